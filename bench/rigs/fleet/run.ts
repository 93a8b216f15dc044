// What is told of one disturbance: what moved, when, and whether anything moved that should not.

export const disturbanceNames = [
	'host dies',
	'agent is killed',
	'agent stops for 3 s',
	'link is cut for 3 s',
	'agent is busy for 10 s',
	'control plane is killed',
	'machine is under full load for 10 s',
	'link is cut for 15 s',
	'agent stops for 15 s',
	'address changes',
] as const;

/** Links that come and go: all of them in turn, one alone, and one somewhere behind the host's own cable. */
export const flappingNames = ['links flap in turn for 8 s', 'one link flaps for 8 s', 'one link flaps unseen for 8 s'] as const;

export type DisturbanceName = (typeof disturbanceNames | typeof flappingNames)[number];

export type Run = {
	readonly disturbance: DisturbanceName;
	readonly run: number;
	/** Until the node was not Ready any more; only where pods are to be replaced. */
	readonly suspectedMs: number | undefined;
	/** Until as many pods as before were ready, none of them where nobody is; undefined: nothing had to be replaced. */
	readonly replacedMs: number | undefined;
	/** Pods that had to move. */
	readonly lost: number;
	/** Pods that are gone, or run anew, and should not: evicted or restarted without need. */
	readonly harmed: readonly string[];
	/** TCP connections that the agents began meanwhile, answered or not. */
	readonly dialled: number;
	/** Those that reached the server. */
	readonly accepted: number;
};

/** How the program is told what to do, as JSON in its argument. */
export type Task = {
	readonly prefix: string;
	readonly folder: string;
	readonly hosts: readonly string[];
	readonly disturbances: readonly DisturbanceName[];
	readonly runs: number;
	readonly link: LinkQuality | undefined;
};

/** What all links to the server are like: of each packet the chance to be lost, and how long each direction takes. */
export type LinkQuality = {readonly lossPercent: number; readonly delayMs: number};

export const serverHost = 'srv';
/** Where agents find the server when links are slow. */
export const relayHost = 'relay';
