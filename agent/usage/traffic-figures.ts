// What /proc says of bytes over the network and from and to disks. Pure: a line that is none of the kernel's is left out.
//
// Source: proc_pid_net(5), the kernel's admin-guide/iostats.

export type Traffic = {readonly receivedBytes: number; readonly sentBytes: number};

/** `/proc/net/dev`, by interface. */
export function trafficOf(dev: string): ReadonlyMap<string, Traffic> {
	const lines = dev.split('\n').flatMap((line): [string, Traffic][] => {
		const [, name, counts = ''] = /^ *([^\s:]+): *(\d[\d ]*)$/.exec(line) ?? [];
		const words = counts.trim().split(/ +/).map(Number);
		const [receivedBytes, sentBytes] = [words[0], words[8]];
		return name === undefined || receivedBytes === undefined || sentBytes === undefined ? [] : [[name, {receivedBytes, sentBytes}]];
	});
	return new Map(lines);
}

/** Interfaces whose bytes are those of another one, or leave the host on none. */
const isInside = /^(?:lo|veth|docker|br-|cni|flannel|cali|dummy|tun|tap|virbr|bond|vxlan|troupe)/;

/** Of all interfaces that lead out of the host; undefined where there is none. */
export function hostTraffic(interfaces: ReadonlyMap<string, Traffic>): Traffic | undefined {
	const out = [...interfaces].filter(([name]) => !isInside.test(name)).map(([, traffic]) => traffic);
	if (out.length === 0) return undefined;
	return {
		receivedBytes: out.reduce((sum, {receivedBytes}) => sum + receivedBytes, 0),
		sentBytes: out.reduce((sum, {sentBytes}) => sum + sentBytes, 0),
	};
}

/** Whole disks: partitions, and devices made of others, would count twice. */
const isDisk = /^(?:sd[a-z]+|vd[a-z]+|xvd[a-z]+|hd[a-z]+|nvme\d+n\d+|mmcblk\d+|dasd[a-z]+)$/;

const sectorBytes = 512;

/** `/proc/diskstats`, of all disks; undefined where there is none. */
export function hostDisks(diskstats: string): DiskFigures | undefined {
	const disks = diskstats.split('\n').flatMap(line => {
		const words = line.trim().split(/ +/);
		const [name = '', read, written] = [words[2], Number(words[5]), Number(words[9])];
		return isDisk.test(name) && Number.isSafeInteger(read) && Number.isSafeInteger(written) ? [{read, written}] : [];
	});
	if (disks.length === 0) return undefined;
	return {
		readBytes: disks.reduce((sum, {read}) => sum + read, 0) * sectorBytes,
		writtenBytes: disks.reduce((sum, {written}) => sum + written, 0) * sectorBytes,
	};
}

export type DiskFigures = {readonly readBytes: number; readonly writtenBytes: number};
