# image bb:1 = a busybox tree; the program is an ELF file for another processor (IA-64 header, one that no qemu binfmt takes)
docker run --rm -v agentbin:/opt bb:1 sh -c 'printf "\177ELF\002\001\001\000\000\000\000\000\000\000\000\000\002\000\062\000\001\000\000\000" > /opt/agent; dd if=/dev/zero bs=64 count=64 >> /opt/agent 2>/dev/null; chmod 755 /opt/agent'
docker run -d --name agent -v agentbin:/opt bb:1 /opt/agent
sleep 4
bcon-exporter diagnose agent
