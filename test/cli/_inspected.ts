// A cluster of actors that is made up, for the inspector to look at: trees, states, streams, and what was asked of it.

import {PassThrough, Readable} from 'node:stream';
import {AppError} from '../../api/errors.js';
import {parsePlace, type ActorLook, type ActorTree, type OfSystem, type Shown, type StreamPortion} from '../../api/inspect.js';
import {address} from '../../api/keys.js';
import {runLine} from '../../cli/inspect/run-line.js';
import type {Question, Session} from '../../cli/inspect/session.js';
import {emptyMemory, type Shell} from '../../cli/inspect/verb.js';
import {verbSpecs} from '../../cli/inspect/verb-specs.js';
import {terminalOf} from '../../cli/screen/terminal.js';
import {actorTree} from '../api/_actor-tree.js';

export type Made = Partial<ActorLook> & {readonly children?: {readonly [name: string]: Made}};

/** An actor as a look shows it, all that is not said being as it mostly is. */
export function actor(system: string, path: string, {children = {}, ...made}: Made = {}): ActorTree {
	const below = Object.entries(children).map(([name, child]) => actor(system, path === '' ? name : `${path}/${name}`, child));
	return actorTree(address(system, path), {behavior: 'Thing', ...made, children: below});
}

export type Cluster = {
	readonly systems: {readonly [name: string]: Made};
	/** By place, and by place and part: `control/x .a.b`. */
	readonly states?: {readonly [place: string]: Shown};
	/** Answers to other verbs, by verb. */
	readonly answers?: {readonly [verb: string]: unknown};
	readonly portions?: readonly StreamPortion[];
};

/** Looks at it as a server would let it. All that is asked is kept. */
export function inspected(cluster: Cluster) {
	const asked: object[] = [];
	const find = (place: string): ActorTree => {
		const {system = '', path = ''} = parsePlace(place) ?? {};
		const root = cluster.systems[system];
		const parts = path === '' ? [] : path.split('/');
		const found = root === undefined ? undefined : parts.reduce<Made | undefined>((made, part) => made?.children?.[part], root);
		if (found === undefined) throw new AppError('ERR_NO_SUCH_ACTOR', {address: place});
		return actor(system, path, found);
	};
	const cut = (tree: ActorTree, depth: number): ActorTree => ({
		...tree,
		children: depth <= 0 ? [] : tree.children.map(child => cut(child, depth - 1)),
	});
	const answer = (question: Question): unknown => {
		switch (question.verb) {
			case 'systems':
				return {systems: Object.keys(cluster.systems).map(name => ({name}))};
			case 'tree':
				return cut(find(question.place), question.depth ?? 99);
			case 'state': {
				const {behavior} = find(question.place);
				const key = [question.place, ...(question.at ?? [])].join(' ');
				const state = cluster.states?.[key];
				if (state === undefined) throw new AppError('ERR_NOT_FOUND', {resource: 'members', name: key});
				return {address: question.place, behavior, atMs: 0, state};
			}
			default:
				return cluster.answers?.[question.verb];
		}
	};
	const session: Session = {
		about: 'https://127.0.0.1:6443 as admin',
		ask: async question => {
			asked.push(question);
			return Promise.resolve(answer(question) as never);
		},
		askAll: async question => {
			asked.push(question);
			const ask = (system: string) => answer({...question, place: system});
			return Promise.resolve(Object.keys(cluster.systems).map(system => ({system, value: ask(system)}) as OfSystem<never>));
		},
		stream: async function* (request) {
			asked.push(request);
			yield* await Promise.resolve(cluster.portions ?? []);
		},
		onNews: () => undefined,
		close: () => Promise.resolve(),
	};
	return {session, asked};
}

/** A shell in front of it: what lines print, one after the other. */
export function shellOf(cluster: Cluster, more: Partial<Shell> = {}) {
	const {session, asked} = inspected(cluster);
	const [stdout, stderr] = [new PassThrough({encoding: 'utf8'}), new PassThrough({encoding: 'utf8'})];
	const terminal = terminalOf({stdin: Readable.from([]), stdout, stderr}, {NO_COLOR: '1'});
	let isOver = false;
	const shell: Shell = {
		session,
		terminal,
		namespace: 'default',
		memory: emptyMemory(''),
		format: undefined,
		confirm: undefined,
		page: text => Promise.resolve(terminal.out(text)),
		verbs: verbSpecs,
		exit: () => {
			isOver = true;
		},
		...more,
	};
	const textOf = (stream: PassThrough): string => (stream.read() as string | null) ?? '';
	return {
		shell,
		asked,
		isOver: () => isOver,
		/** What a line prints on stdout. */
		type: async (line: string): Promise<string> => {
			await runLine(line, shell, new AbortController().signal);
			return textOf(stdout);
		},
		notes: () => textOf(stderr),
	};
}
