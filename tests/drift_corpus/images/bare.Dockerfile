FROM scratch
ADD rootfs.tar /
ENV PATH=/bin
ENTRYPOINT ["/bin/entry"]
CMD ["wait"]
