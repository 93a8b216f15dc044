// Systems of users' own as tests run them: each does what it is told, and what it hears is printed.

import type {ExecutionContext} from 'ava';
import {eventually} from '../../bench/rigs/cluster/waiting.js';
import type {AppError, Outcome} from '../../api/errors.js';
import {userModuleOf} from '../../cli/actor-run/user-module.js';
import {openUserSystem, type OpenUserSystem} from '../../cli/actor-run/user-system.js';
import {createNactExecutor} from '../../system/kernel/nact-executor.js';
import {systemClock} from '../../system/time/clock.js';
import {systemRandom} from '../../system/time/random.js';

/** A behaviour of which the test says what it does: what it is told, and what it hears, is printed. */
const puppet = {
	kind: 'Puppet',
	init: (input: unknown) => ({state: {input, heard: 0}, effects: [{type: 'print', text: `begins with ${JSON.stringify(input)}`}]}),
	receive(state: {heard: number}, message: {type: string; effects?: object[]; stop?: true; replyTo?: object; outcome?: Outcome<unknown>}) {
		if (message.type === 'crash') throw new Error('as it was told');
		if (message.type === 'act') return {state, effects: message.effects ?? [], ...(message.stop === undefined ? {} : {stop: message.stop})};
		const heard = state.heard + 1;
		const {outcome, replyTo} = message;
		const said = outcome === undefined ? '' : `: ${outcome.ok ? JSON.stringify(outcome.value) : outcome.error.message}`;
		const answer = replyTo === undefined ? [] : [{type: 'reply', to: replyTo, outcome: {ok: true, value: heard}}];
		return {state: {...state, heard}, effects: [{type: 'print', text: `${message.type} ${heard}${said}`}, ...answer]};
	},
	signal: (state: unknown, signal: {type: string; reason?: {type: string}}) => ({
		state,
		effects: [{type: 'print', text: `${signal.type} ${signal.reason?.type ?? ''}`}],
	}),
};

export type Opening = {readonly password?: string; readonly input?: unknown};

export function open(
	t: ExecutionContext,
	{port}: {readonly port: number},
	name: string,
	login: string,
	{password = `of ${login}`, input = null}: Opening = {},
) {
	const executor = createNactExecutor(systemClock);
	const printed: string[] = [];
	const notes: string[] = [];
	const ends: (AppError | undefined)[] = [];
	let isReady = false;
	let isOpen = true;
	const system: OpenUserSystem = openUserSystem({
		name,
		broker: {urls: [`mqtt://127.0.0.1:${port}`], login, role: 'edit', password, ca: undefined, trustAnyone: false},
		module: userModuleOf({default: puppet, behaviors: {puppet}}, 'puppet.mjs'),
		input,
		about: {host: 'here', pid: 7, file: 'puppet.mjs'},
		faults: false,
		clock: systemClock,
		random: systemRandom,
		executor,
		onReady: () => (isReady = true),
		print: text => printed.push(text),
		note: line => notes.push(line),
		onEnd: error => ends.push(error),
	});
	const stop = async (): Promise<void> => {
		if (!isOpen) return;
		isOpen = false;
		await system.stop();
		executor.close();
	};
	t.teardown(stop);
	const about = (): string => JSON.stringify({name, login, printed, notes, ends: ends.map(String)});
	return {
		printed,
		notes,
		ends,
		stop,
		act: (...effects: readonly object[]) => system.tell({type: 'act', effects} as {type: string}, 'test'),
		tell: (message: {readonly type: string; readonly stop?: true}) => system.tell(message, 'test'),
		ready: () => eventually(`${name}@${login} is ready`, () => isReady, about),
		prints: (text: string) => eventually(`${name}@${login} prints ${text}`, () => printed.includes(text), about),
		notesOf: (pattern: RegExp) =>
			eventually(`${name}@${login} notes ${String(pattern)}`, () => notes.some(note => pattern.test(note)), about),
		ended: () => eventually(`${name}@${login} ends`, () => ends.length > 0, about),
	};
}

export const main = (system: string): string => `troupe://${system}/main`;
