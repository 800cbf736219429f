FROM scratch
ADD rootfs.tar /
ENV PATH=/bin NODE_ENV=production PORT=3000
LABEL org.opencontainers.image.vendor="example" org.opencontainers.image.version="2.3.1"
WORKDIR /app
EXPOSE 3000/tcp 9229
HEALTHCHECK --interval=10m --timeout=5s --start-period=30s --retries=4 CMD ["true"]
USER 1000:1000
ENTRYPOINT ["/bin/entry"]
CMD ["node", "server.js"]
