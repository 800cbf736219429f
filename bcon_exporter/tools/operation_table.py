"""Every operation of Flux and Scout, and how it is answered: the tools and docs/names.md are made of this."""

from bcon_exporter.model.operations import Operation

_PAGE = "limit=10 offset=0"
_CONTAINER = "container_id host?"
_PROJECT = "host project"
_TAIL = "host lines=100 grep?"
_JOURNAL = "journalctl -n {lines} --no-pager ?grep:-g ?grep:{grep}"

HELP = Operation("help", "topic? format=markdown", "answered", "Say which operations there are, and what one takes.")

FLUX_OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "container:list",
        f"host? state=all name_filter? image_filter? label_filter? {_PAGE}",
        "answered",
        "List containers, in any state unless one is named.",
    ),
    Operation("container:start", _CONTAINER, "denied", "Start a container.", "docker start {container_id}"),
    Operation("container:stop", f"{_CONTAINER} image?", "denied", "Stop a container.", "docker stop {container_id}"),
    Operation("container:restart", _CONTAINER, "denied", "Restart a container.", "docker restart {container_id}"),
    Operation("container:pause", _CONTAINER, "denied", "Freeze a container.", "docker pause {container_id}"),
    Operation("container:resume", _CONTAINER, "denied", "Thaw a container.", "docker unpause {container_id}"),
    Operation(
        "container:logs",
        f"{_CONTAINER} lines=100 since? until? grep? stream=both",
        "answered",
        "Show a container's newest log lines, or those that hold a text.",
    ),
    Operation("container:stats", "container_id? host?", "answered", "Show what one container uses, or all that run."),
    Operation(
        "container:inspect",
        f"{_CONTAINER} summary=false",
        "answered",
        "Show a container with its mounts, networks, limits, command and the names of its variables.",
    ),
    Operation(
        "container:search",
        f"query host? {_PAGE}",
        "answered",
        "Find containers by a part of a name, id, image or label.",
    ),
    Operation("container:pull", _CONTAINER, "denied", "Pull the image of a container.", "docker pull {image_of}"),
    Operation("container:recreate", f"{_CONTAINER} pull=true", "denied", "Make a container anew.", "{recreate}"),
    Operation(
        "container:exec",
        f"{_CONTAINER} command user? workdir?",
        "denied",
        "Run a command in a container.",
        "docker exec ?user:-u ?user:{user} ?workdir:-w ?workdir:{workdir} {container_id} sh -c {command}",
    ),
    Operation(
        "container:top",
        _CONTAINER,
        "elsewhere",
        "Show a container's processes: their arguments may hold secrets, and asking leaves an event.",
        "docker top {container_id}",
    ),
    Operation("compose:list", f"host name_filter? {_PAGE}", "answered", "List Compose projects."),
    Operation(
        "compose:status",
        f"{_PROJECT} service_filter? {_PAGE}",
        "answered",
        "Show a project's containers, what is wrong with each, and where it left the files.",
    ),
    Operation("compose:up", f"{_PROJECT} detach=true", "denied", "Bring a project up.", "{compose} up ?detach:-d"),
    Operation(
        "compose:down",
        f"{_PROJECT} remove_volumes=false",
        "denied",
        "Remove a project's containers and networks, and its volumes with remove_volumes.",
        "{compose} down ?remove_volumes:-v",
    ),
    Operation("compose:restart", _PROJECT, "denied", "Restart a project's containers.", "{compose} restart"),
    Operation(
        "compose:logs",
        f"{_PROJECT} service? lines=100 since? until? grep?",
        "answered",
        "Show the newest log lines of a project's containers, merged by time.",
    ),
    Operation(
        "compose:build",
        f"{_PROJECT} service? no_cache=false",
        "denied",
        "Build a project's images.",
        "{compose} build ?no_cache:--no-cache ?service:{service}",
    ),
    Operation(
        "compose:pull",
        f"{_PROJECT} service?",
        "denied",
        "Pull a project's images.",
        "{compose} pull ?service:{service}",
    ),
    Operation(
        "compose:recreate",
        f"{_PROJECT} service?",
        "denied",
        "Make a project's containers anew.",
        "{compose} up -d --force-recreate ?service:--no-deps ?service:{service}",
    ),
    Operation("docker:info", "host", "answered", "Show the engine: version, driver, containers by state."),
    Operation("docker:df", "host", "answered", "Show who fills the disk, the largest first."),
    Operation(
        "docker:prune", "host prune_target force=false", "denied", "Remove what nothing uses.", "{prune} ?force:-f"
    ),
    Operation(
        "docker:images",
        f"host? dangling_only=false {_PAGE}",
        "answered",
        "List images, the largest first, with the containers that are made of them.",
    ),
    Operation("docker:pull", "host image", "denied", "Pull an image.", "docker pull {image}"),
    Operation(
        "docker:build",
        "host context tag dockerfile=Dockerfile no_cache=false",
        "denied",
        "Build an image.",
        "docker build -t {tag} -f {dockerfile} ?no_cache:--no-cache {context}",
    ),
    Operation("docker:rmi", "host image force=false", "denied", "Remove an image.", "docker rmi ?force:-f {image}"),
    Operation("docker:networks", f"host? {_PAGE}", "answered", "List networks with the containers in them."),
    Operation(
        "docker:volumes", f"host? {_PAGE}", "answered", "List volumes with size and the containers that mount them."
    ),
    Operation("host:status", "host?", "answered", "Say whether the engine is reached."),
    Operation("host:resources", "host?", "answered", "Show CPUs, memory, load, pressure and disk."),
    Operation("host:info", "host?", "answered", "Show operating system, kernel, architecture and name."),
    Operation("host:uptime", "host?", "answered", "Show since when host and engine run."),
    Operation(
        "host:services",
        "host? service? state~unit=all",
        "elsewhere",
        "Show the services of systemd.",
        "systemctl list-units --type=service state=all:--all state=running:--state=running "
        "state=stopped:--state=inactive state=failed:--state=failed ?service:{service}",
    ),
    Operation("host:network", "host?", "elsewhere", "Show the host's network interfaces.", "ip -brief address"),
    Operation("host:mounts", "host?", "answered", "Show the file systems that containers write to."),
)

SCOUT_OPERATIONS: tuple[Operation, ...] = (
    Operation("nodes", "", "answered", "List the hosts that can be asked: this one."),
    Operation(
        "peek",
        "target tree=false depth=3",
        "answered",
        "Show a file of a Compose project or below compose.roots; with tree the files that may be read.",
    ),
    Operation(
        "exec",
        "target command timeout=30",
        "denied",
        "Run a command on the host.",
        "sh -c {command}",
    ),
    Operation("find", "target pattern depth=3", "answered", "Find files that may be read by a pattern of their names."),
    Operation("delta", "source target~place? content?", "answered", "Compare a file with another one, or with a text."),
    Operation("emit", "targets command?", "answered", "Show several files; with a command it is denied."),
    Operation("beam", "source destination", "denied", "Copy a file.", "scp {source} {destination}"),
    Operation(
        "ps",
        "host grep? user? sort=cpu limit~1000=50",
        "elsewhere",
        "Show the host's processes: their arguments may hold secrets.",
        "ps !user:-e ?user:-u ?user:{user} -o pid,user,pcpu,pmem,time,comm sort=cpu:--sort=-pcpu "
        "sort=mem:--sort=-pmem sort=pid:--sort=pid sort=time:--sort=-time",
    ),
    Operation(
        "df", "host path? human_readable=true", "answered", "Show the space of file systems that containers write to."
    ),
    Operation("zfs:pools", "host pool? health?", "elsewhere", "Show ZFS pools.", "zpool list ?pool:{pool}"),
    Operation(
        "zfs:datasets",
        "host pool? type? recursive=false",
        "elsewhere",
        "Show ZFS datasets.",
        "zfs list ?type:-t ?type:{type} ?recursive:-r ?pool:{pool}",
    ),
    Operation(
        "zfs:snapshots",
        "host pool? dataset? limit~1000?",
        "elsewhere",
        "Show ZFS snapshots.",
        "zfs list -t snapshot ?dataset:{dataset} !dataset:-r ?pool:{pool}",
    ),
    Operation(
        "logs:syslog",
        _TAIL,
        "elsewhere",
        "Show the system's log.",
        "!grep:tail !grep:-n !grep:{lines} ?grep:grep ?grep:-F ?grep:{grep} /var/log/syslog",
    ),
    Operation(
        "logs:journal",
        "host lines=100 since? until? unit? priority? grep?",
        "elsewhere",
        "Show the journal.",
        f"{_JOURNAL} ?unit:-u ?unit:{{unit}} ?priority:-p ?priority:{{priority}} ?since:--since ?since:{{since}} "
        "?until:--until ?until:{until}",
    ),
    Operation("logs:dmesg", _TAIL, "elsewhere", "Show the kernel's log.", f"{_JOURNAL} -k"),
    Operation("logs:auth", _TAIL, "elsewhere", "Show the log of log-ins.", f"{_JOURNAL} --facility=auth,authpriv"),
)
