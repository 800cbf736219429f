FROM scratch
ADD rootfs.tar /
ENV PATH=/bin
VOLUME /var/lib/agent /etc/agent
EXPOSE 9100-9102 8125/udp
HEALTHCHECK NONE
WORKDIR /var/lib/agent/
ENTRYPOINT ["/bin/entry"]
CMD ["agent", "--foreground"]
