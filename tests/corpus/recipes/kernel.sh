# The kernel's own words, and those of the shell, when a memory limit is reached (needs a memory control group)
# apt: util-linux
mkdir /mnt/cg; mount -t cgroup -o memory cgroup /mnt/cg 2>/dev/null || mount -t cgroup2 none /mnt/cg
group=/mnt/cg/corpus-$$; mkdir $group
limit() { echo $((40 << 20)) >$group/memory.limit_in_bytes 2>/dev/null || echo $((40 << 20)) >$group/memory.max; }
limit
printf 'import time\nrows = []\nprint("loading rows", flush=True)\nwhile True: rows.append(bytearray(1 << 20))\n' >load.py
inside() { bash -c "echo \$\$ >$group/cgroup.procs; $1"; }
stamp=$(date +%s%N); echo "corpus $stamp" >/dev/kmsg
run bash -c "$(declare -f inside); group=$group; inside 'python3 load.py; echo \"load.py left with \$?\"'"
cp /mnt/log /mnt/shell.log; sed -i "s#/mnt/recipe.sh#/entrypoint.sh#" /mnt/log
excerpt shell_killed "OOM_KILLED mem:child LOG_ERROR" "a shell whose child was killed by the kernel at the limit"
dmesg | sed "1,/corpus $stamp/d" | grep -v -E 'veth|docker|br-' >/mnt/dmesg; sed -i "s#corpus-[0-9]*#docker/4a1d0f#g" /mnt/dmesg
cp /mnt/dmesg /mnt/log; excerpt dmesg_head "OOM_KILLED mem:kernel LOG_ERROR" "the kernel's report, its beginning" head 25
cp /mnt/dmesg /mnt/log; excerpt dmesg_tail "OOM_KILLED mem:kernel LOG_ERROR" "the kernel's report, its end" tail 4
printf 'def app(e, s):\n    if e["PATH_INFO"] == "/eat":\n        x = []\n        while True: x.append(bytearray(1 << 20))\n    s("200 OK", []); return [b"ok"]\n' >eat.py
echo $((70 << 20)) >$group/memory.limit_in_bytes 2>/dev/null
start bash -c "echo \$\$ >$group/cgroup.procs; exec gunicorn -w 1 -b 127.0.0.1:8000 eat:app"; up 8000; quiet curl -s http://127.0.0.1:8000/; quiet curl -s -m 4 http://127.0.0.1:8000/eat; sleep 2
excerpt gunicorn_worker_killed "OOM_KILLED mem:child LOG_ERROR" "gunicorn: the kernel killed a worker at the limit"
stop KILL; sleep 1; rmdir $group
