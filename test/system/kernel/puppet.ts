// A behaviour that does what it is told, and writes down all that reaches it.

import {succeeded, type Outcome} from '../../../api/errors.js';
import {
	reply,
	type Behavior,
	type Context,
	type Effect,
	type Message,
	type Next,
	type Restart,
	type Signal,
} from '../../../system/kernel/behavior.js';

/** What a puppet does when it starts, and when it is told to `act`. */
export type Play = {
	readonly effects?: readonly Effect[];
	readonly throws?: string;
	readonly stops?: true;
	/** Written down. */
	readonly note?: string;
	/** Done on the stop signal. */
	readonly lastEffects?: readonly Effect[];
};

type PuppetMessage = Message & {readonly play?: Play; readonly text?: string; readonly outcome?: Outcome<unknown>};

type PuppetState = {readonly notes: readonly string[]; readonly lastEffects: readonly Effect[]};

/** Starts a puppet as a child. */
export const spawnPuppet = (name: string, input: Play = {}, restart: Restart = 'transient'): Effect => ({
	type: 'spawn',
	name,
	behavior: 'puppet',
	input,
	restart,
});

export const act = (play: Play): Message => ({type: 'act', play}) as Message;
export const note = (text: string): Message => ({type: 'note', text}) as Message;
/** Answered with all that the puppet wrote down since it started. */
export const getNotes: Message = {type: 'getNotes'};

export function puppet(log: (line: string) => void): Behavior<Play, PuppetState, PuppetMessage> {
	const wrote = (state: PuppetState, {self}: Context, line: string): PuppetState => {
		log(`${self.slice(self.indexOf('/', 'troupe://'.length) + 1)}: ${line}`);
		return {...state, notes: [...state.notes, line]};
	};
	const acted = (state: PuppetState, {note: text, effects = [], throws, stops, lastEffects}: Play, context: Context): Next<PuppetState> => {
		if (throws !== undefined) throw new Error(throws);
		const noted = text === undefined ? state : wrote(state, context, text);
		return {state: lastEffects === undefined ? noted : {...noted, lastEffects}, effects, ...(stops === undefined ? {} : {stop: stops})};
	};
	return {
		kind: 'Puppet',
		init: (input, context) => acted(wrote({notes: [], lastEffects: []}, context, 'init'), input, context),
		receive(state, message, context) {
			switch (message.type) {
				case 'act': {
					const {effects, ...rest} = acted(state, message.play ?? {}, context);
					return {...rest, effects: [...effects, ...reply(message.replyTo, succeeded(null))]};
				}
				case 'getNotes':
					return {state, effects: reply(message.replyTo, succeeded(state.notes))};
				case 'unknown':
					return undefined;
				default:
					return {state: wrote(state, context, textOf(message)), effects: []};
			}
		},
		signal: (state, signal, context) => ({
			state: wrote(state, context, textOfSignal(signal)),
			effects: signal.type === 'stop' ? state.lastEffects : [],
		}),
		describe: ({notes}) => notes.at(-1) ?? '',
		trouble: ({notes}) => notes.find(text => text.startsWith('trouble')),
	};
}

function textOf({type, text, outcome}: PuppetMessage): string {
	if (outcome === undefined) return text === undefined ? type : `${type} ${text}`;
	return `${type} ${outcome.ok ? JSON.stringify(outcome.value) : outcome.error.code}`;
}

function textOfSignal(signal: Signal): string {
	if (signal.type !== 'down') return `signal ${signal.type}`;
	return `down ${signal.address.slice(signal.address.lastIndexOf('/') + 1)} ${signal.reason.type}`;
}
