FROM scratch
ADD rootfs.tar /
ENV PATH=/bin LANG=en_US.utf8 PGDATA=/var/lib/postgresql/data
EXPOSE 5432 3306/tcp
VOLUME /var/lib/postgresql/data
STOPSIGNAL SIGINT
ENTRYPOINT ["docker-entrypoint.sh"]
CMD ["postgres"]
