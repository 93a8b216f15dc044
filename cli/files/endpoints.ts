// `endpoints.json`: what runs for a home, where it listens, and which process it is. And what a person is told about it.

import {existsSync, readFileSync} from 'node:fs';
import {homeOf} from './home.js';
import {homeFlag, homeFlagElsewhere} from './home-flag.js';

/** The commands that serve from a home. */
const servingCommands = ['up', 'server', 'agent'] as const;
export type ServingCommand = (typeof servingCommands)[number];

export type Endpoints = {
	readonly command: ServingCommand;
	/** `https://127.0.0.1:6443`; of an agent the server it has joined. */
	readonly api: string;
	/** `http://127.0.0.1:7070`; an agent has none. */
	readonly web: string;
	/** `mqtt://127.0.0.1:1883`; an agent has none. */
	readonly mqtt: string;
	readonly pid: number;
	/** What runs the pods of its node; a server has none. */
	readonly pods?: string;
	/** What network they have. */
	readonly network?: string;
	/** Where an agent tells a scraper of itself: `http://127.0.0.1:9900/metrics`. */
	readonly metrics?: string;
	/** What the person who started it is to be told. */
	readonly notes?: readonly string[];
};

/** What people call it. */
export const nounOf = (command: ServingCommand): string => (command === 'up' ? 'cluster' : command);

/** What the file says; undefined when there is none, or when it is no such thing. */
export function readEndpoints(home: string): Endpoints | undefined {
	try {
		const value = JSON.parse(readFileSync(homeOf(home).endpoints, 'utf8')) as Partial<Endpoints> | null;
		const {api, web, mqtt, pid, pods, network, metrics, notes} = value ?? {};
		const command = servingCommands.find(each => each === (value?.command ?? 'up'));
		if (command === undefined || typeof api !== 'string' || typeof web !== 'string' || typeof mqtt !== 'string') return undefined;
		if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid <= 1) return undefined;
		const ofNode = {
			...(typeof pods === 'string' ? {pods} : {}),
			...(typeof network === 'string' ? {network} : {}),
			...(typeof metrics === 'string' ? {metrics} : {}),
		};
		return {command, api, web, mqtt, pid, ...ofNode, ...(Array.isArray(notes) ? {notes: notes.map(String)} : {})};
	} catch {
		return undefined; // No file, or one that is being written by another program: the same to the caller.
	}
}

/** Whether there is such a file, and nothing can be read from it. */
export const areEndpointsBroken = (home: string): boolean => existsSync(homeOf(home).endpoints) && readEndpoints(home) === undefined;

/** What is printed when it is ready, in the foreground and in the background. `troupe` is how this command was called. */
export function readyText(home: string, endpoints: Endpoints, detached: boolean, troupe = './troupe'): string {
	const {command, pid, notes = []} = endpoints;
	const at = homeFlag(home);
	const ending = detached
		? `it runs in the background (process ${pid}); ${troupe} down${at} stops it`
		: `Ctrl-C stops it${command === 'server' ? '' : `; pods run on, ${troupe} down --pods${at} stops those too`}`;
	return [
		`the ${nounOf(command)} is ready`,
		...notes.map(note => `note: ${note}`),
		...placesOf(home, endpoints),
		'',
		ending,
		...nextOf(command, detached, troupe, detached ? at : homeFlagElsewhere(home)),
		'',
	].join('\n');
}

const placesOf = (home: string, {command, api, web, mqtt, pods, network, metrics}: Endpoints): readonly string[] => [
	...(command === 'agent' ? [`  server ${api}`] : [`  api    ${api}`, `  web    ${web}`, `  mqtt   ${mqtt}`]),
	...(pods === undefined ? [] : [`  pods   ${pods}`]),
	...(network === undefined ? [] : [`  net    ${network}`]),
	...(metrics === undefined ? [] : [`  stats  ${metrics}`]),
	`  home   ${home}`,
	`  log    ${homeOf(home).log}`,
];

/** A way to go on from here. */
function nextOf(command: ServingCommand, detached: boolean, troupe: string, at: string): readonly string[] {
	const where = `next, in ${detached ? 'this' : 'another'} terminal:`;
	switch (command) {
		case 'up':
			return [where, `  ${troupe} apply -f examples/hello.yaml${at}`, `  ${troupe} get pods${at}`];
		case 'server':
			return [where, `  ${troupe} token create --join${at}`, `  ${troupe} get nodes${at}`];
		case 'agent':
			return [];
	}
}
