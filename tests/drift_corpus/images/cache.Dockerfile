FROM scratch
ADD rootfs.tar /
ENV PATH=/bin REDIS_VERSION=7.4.2
WORKDIR /data
VOLUME ["/data"]
EXPOSE 6379
ENTRYPOINT ["docker-entrypoint.sh"]
CMD ["redis-server"]
