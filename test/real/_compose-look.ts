// What a container is, seen by `docker inspect` and from inside, in words in which two of them can be compared.

import type {Dockerd} from '../../bench/rigs/servers/dockerd.js';

/** Put into images as /bin/look. */
export const lookScript = `#!/bin/sh
echo "== user"; echo "$(id -u):$(id -g) $(id -G)"
echo "== dir"; pwd
echo "== hostname"; hostname
echo "== environment"; env | grep -vE '^(HOSTNAME|SHLVL|PWD|OLDPWD|TERM|HOME)=' | sort
echo "== rights"; grep -E '^(CapEff|CapBnd|NoNewPrivs|Seccomp):' /proc/self/status
echo "== root"; if touch /try 2>/dev/null; then rm /try; echo writable; else echo no; fi
echo "== hosts"; grep -E '10\\.0\\.0\\.' /etc/hosts | tr '\\t' ' ' | tr ' ' '\\n' | grep -v '^10' | sort
echo "== mounts"
while read -r _ target type options _; do
	case "$target" in /|/proc*|/sys*|/dev|/dev/pts|/dev/mqueue|/dev/console|/etc/resolv.conf|/etc/hostname|/etc/hosts) continue;; esac
	case "$options" in ro|ro,*) mode=ro;; *) mode=rw;; esac
	[ "$type" = tmpfs ] || type=disk
	echo "$target $type $mode $(echo "$options" | grep -o 'size=[^,]*')"
done </proc/mounts | sed 's/ *$//' | sort
echo "== files"
while read -r _ target _; do
	[ -f "$target" ] || continue
	case "$target" in /etc/resolv.conf|/etc/hostname|/etc/hosts|/proc*|/sys*|/dev/*) continue;; esac
	echo "$target $(stat -c '%a' "$target") $(md5sum <"$target" | cut -c1-8)"
done </proc/mounts | sort
echo "== folders"
while read -r _ target _; do
	[ -d "$target" ] || continue
	case "$target" in /|/proc*|/sys*|/dev*) continue;; esac
	echo "$target $(ls "$target" | tr '\\n' ' ') $(if touch "$target/.try" 2>/dev/null; then rm "$target/.try"; echo writable; fi)"
done </proc/mounts | sort
`;

export type Look = {readonly [field: string]: string};

type Inspected = {
	readonly Path: string;
	readonly Args: readonly string[];
	readonly Config: {readonly Tty: boolean; readonly OpenStdin: boolean};
	readonly HostConfig: {
		readonly Memory: number;
		readonly MemoryReservation: number;
		readonly MemorySwap: number;
		readonly NanoCpus: number;
		readonly CpuQuota: number;
		readonly CpuPeriod: number;
		readonly CpuShares: number;
		readonly Privileged: boolean;
		readonly PidsLimit: number | null;
		readonly NetworkMode: string;
	};
};

/** What a running container is. */
export async function lookInto({docker}: Dockerd, id: string): Promise<Look> {
	const [said, inside] = await Promise.all([docker('inspect', id), docker('exec', id, 'look')]);
	const [{Path, Args, Config, HostConfig}] = JSON.parse(said) as readonly [Inspected];
	const {Memory, MemorySwap, NanoCpus, CpuQuota, CpuPeriod, Privileged, PidsLimit} = HostConfig;
	const millis = NanoCpus > 0 ? NanoCpus / 1e6 : CpuQuota > 0 ? Math.round((CpuQuota / (CpuPeriod || 100_000)) * 1_000) : 0;
	return {
		...sectionsOf(inside),
		program: JSON.stringify([Path, ...Args]),
		terminal: `tty ${Config.Tty}, stdin ${Config.OpenStdin}`,
		memory: String(Memory),
		swap: String(MemorySwap - Memory),
		'memory reserved': String(HostConfig.MemoryReservation),
		cpu: String(millis),
		'cpu shares': String(HostConfig.CpuShares),
		processes: String(PidsLimit ?? 0),
		privileged: String(Privileged),
	};
}

function sectionsOf(text: string): Look {
	const [, ...sections] = text.replaceAll('\r', '').split(/^== /m);
	return Object.fromEntries(
		sections.map(section => {
			const end = section.indexOf('\n');
			return [section.slice(0, end), section.slice(end + 1).trim()];
		}),
	);
}
