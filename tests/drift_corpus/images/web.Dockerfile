FROM scratch
ADD rootfs.tar /
ENV PATH=/bin NGINX_VERSION=1.27.4 PKG_RELEASE=1
LABEL maintainer="the corpus" org.opencontainers.image.title="web server"
EXPOSE 80
STOPSIGNAL SIGQUIT
ENTRYPOINT ["/docker-entrypoint.sh"]
CMD ["nginx", "-g", "daemon off;"]
