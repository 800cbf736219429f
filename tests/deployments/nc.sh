#!/bin/sh
# busybox's nc, which is called nd here, with the -z of others: connect, and say by the status whether that worked.
probe= host= port=
for word in "$@"; do
	case $word in
	-*z*) probe=1 ;;
	-*) ;;
	*) host=$port port=$word ;;
	esac
done
[ -n "$probe" ] || exec busybox nd "$@"
said=$(busybox nd -w 5 "$host" "$port" -e /bin/true 2>&1)
status=$?
[ -z "$said" ] || echo "nc${said#nd}" >&2
exit $status
