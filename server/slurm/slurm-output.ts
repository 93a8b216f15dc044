// What the scripts and Slurm's own commands say, read. Pure; whatever a login node says, nothing here throws, and what is not understood is
// passed over.

import type {SlurmJobSpec, SlurmJobStatus} from '../../api/kinds/slurmjob.js';
import {isJobFile} from '../../api/kinds/slurmjob.js';
import {parseArrayIndexes} from '../../api/array-indexes.js';
import {limits} from '../../api/limits.js';
import {timestampOf} from '../../api/object.js';
import type {SlurmSeen} from '../../actors/control/slurm/slurm-news.js';
import {mark} from './scripts.js';

/** The lines that are for the program: a word, and what stands behind it. */
export function* saidLines(out: string): Iterable<{readonly word: string; readonly rest: string}> {
	for (const line of out.split('\n')) {
		if (!line.startsWith(mark)) continue;
		const text = line.slice(mark.length).trimEnd();
		const space = text.indexOf(' ');
		yield space < 0 ? {word: text, rest: ''} : {word: text.slice(0, space), rest: text.slice(space + 1)};
	}
}

/** What follows that word; undefined: it was not said. */
export function saidOf(out: string, word: string): string | undefined {
	for (const line of saidLines(out)) if (line.word === word) return line.rest;
	return undefined;
}

/** A text that was said in base64, in one line for people. */
export const textSaid = (text: string): string =>
	Buffer.from(text, 'base64').toString('utf8').replace(/\s+/g, ' ').trim().slice(-limits.slurmSaidCharacters);

/** Slurm's word for a state; a CANCELLED by somebody has a number behind it. */
const stateOf = (text: string): string => /^[A-Z_]+/.exec(text)?.[0] ?? '';

const waitingStates: ReadonlySet<string> = new Set(['PENDING', 'REQUEUED', 'REQUEUE_HOLD', 'REQUEUE_FED', 'SPECIAL_EXIT', 'RESV_DEL_HOLD']);
const endStates: ReadonlySet<string> = new Set([
	'COMPLETED',
	'FAILED',
	'CANCELLED',
	'TIMEOUT',
	'OUT_OF_MEMORY',
	'NODE_FAIL',
	'BOOT_FAIL',
	'DEADLINE',
	'PREEMPTED',
	'REVOKED',
	'LAUNCH_FAILED',
]);

type Part = 'pending' | 'running' | 'succeeded' | 'failed' | 'cancelled';

function partOf(state: string): Part {
	if (waitingStates.has(state)) return 'pending';
	if (!endStates.has(state)) return 'running';
	return state === 'COMPLETED' ? 'succeeded' : state === 'CANCELLED' ? 'cancelled' : 'failed';
}

// ---- looks -------------------------------------------------------------------------------------------------------------------

type QueueRow = {
	readonly index: string;
	readonly state: string;
	readonly start: string | undefined;
	readonly nodes: string;
	readonly reason: string;
};

export type Look = {
	/** Rows by the number of their job; none of a job that Slurm does not know any more. */
	readonly rows: ReadonlyMap<string, readonly QueueRow[]>;
	readonly positions: ReadonlyMap<string, number>;
};

/** Undefined: it was cut off, or Slurm did not answer. */
export function readLook(out: string): Look | undefined {
	const rows = new Map<string, QueueRow[]>();
	const positions = new Map<string, number>();
	let isWhole = false;
	for (const {word, rest} of saidLines(out)) {
		if (word === 'looked') isWhole = true;
		if (word === 'p') {
			const [, id, position] = /^(\d+)\|(\d+)$/.exec(rest) ?? [];
			if (id !== undefined) positions.set(id, Number(position));
		}
		if (word !== 'q') continue;
		const [, id, index = '', state = '', start = '', nodes = '', reason = ''] =
			/^(\d+)(?:_(\d+))?\|([A-Z_]+)\|([^|]*)\|([^|]*)\|(.*)$/.exec(rest) ?? [];
		if (id === undefined) continue;
		const of = rows.get(id) ?? [];
		rows.set(id, of);
		if (of.length < limits.slurmArrayJobs)
			of.push({index, state, start: timeOf(start), nodes: shortened(nodes), reason: shortened(reason)});
	}
	return isWhole ? {rows, positions} : undefined;
}

const shortened = (text: string): string => text.slice(0, limits.slurmFileCharacters);

/** Times are in UTC, as the scripts ask for. */
function timeOf(text: string): string | undefined {
	if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/.test(text)) return undefined;
	const ms = Date.parse(`${text}Z`);
	return Number.isNaN(ms) ? undefined : timestampOf(ms);
}

/** Whether it is over: nothing of it waits or runs. */
export const isOver = (rows: readonly QueueRow[]): boolean => rows.every(({state}) => endStates.has(state));

/** Whether all of it waits. */
export const isWaiting = (rows: readonly QueueRow[]): boolean => rows.every(({state}) => waitingStates.has(state));

/** How Slurm has a job that is not over. */
export function seenOf(spec: SlurmJobSpec, rows: readonly QueueRow[], position: number | undefined): SlurmSeen {
	const running = rows.filter(({state}) => partOf(state) === 'running');
	const first = running[0] ?? rows.find(({state}) => partOf(state) === 'pending') ?? rows[0];
	if (first === undefined) return {};
	const isRunning = running.length > 0;
	return {
		state: first.state,
		...(isRunning || first.reason === 'None' || first.reason === '' ? {} : {reason: first.reason}),
		...(isRunning || position === undefined ? {} : {queuePosition: position}),
		...(first.start === undefined ? {} : isRunning ? {startTime: first.start} : {estimatedStart: first.start}),
		...(first.nodes === '' ? {} : {nodes: first.nodes}),
		...(spec.array === undefined ? {} : {tasks: countsOf(rows.map(({state}) => state))}),
	};
}

function countsOf(states: readonly string[]): NonNullable<SlurmJobStatus['tasks']> {
	const counts: Partial<Record<Part, number>> = {};
	for (const state of states) counts[partOf(state)] = (counts[partOf(state)] ?? 0) + 1;
	return counts;
}

// ---- the report of a job that is over ----------------------------------------------------------------------------------------

/** How one job, or one of an array, ended. */
type Ending = {
	readonly state: string;
	readonly code: number;
	readonly signal: number;
	readonly nodes?: string;
	readonly reason?: string;
	readonly start?: string;
	readonly restarts?: number;
};

export type RemoteFile = {readonly name: string; readonly bytes: number};

export type Report = {
	/** By index; that of a single job is empty. */
	readonly endings: ReadonlyMap<string, Ending>;
	readonly exitCodes: ReadonlyMap<string, number>;
	readonly files: readonly RemoteFile[];
	/** Bytes of what compiling has said. */
	readonly compileLog: number | undefined;
	/** The number of the job that is the one that runs, as the first batch script of the folder has written it; undefined: none has begun. */
	readonly owner: string | undefined;
	/** Some of it waits or runs, as Slurm says now. */
	readonly isUnderWay: boolean;
};

/** Undefined: it was cut off. */
export function readReport(out: string): Report | undefined {
	const fromAccounts: Found = {own: new Map(), together: []};
	const fromControl: Found = {own: new Map(), together: []};
	const exitCodes = new Map<string, number>();
	const files = new Map<string, RemoteFile>();
	let compileLog: number | undefined;
	let owner: string | undefined;
	let isWhole = false;
	for (const {word, rest} of saidLines(out))
		switch (word) {
			case 'reported':
				isWhole = true;
				break;
			case 's':
				readControl(rest, fromControl);
				break;
			case 'a':
				readAccount(rest, fromAccounts);
				break;
			case 'x': {
				const [, index = '', code] = /^(job|\d+)\|(\d{1,3})$/.exec(rest) ?? [];
				if (code !== undefined) exitCodes.set(index === 'job' ? '' : index, Number(code));
				break;
			}
			case 'c':
				compileLog = sizeOf(rest);
				break;
			case 'o':
				if (/^[1-9]\d{0,9}$/.test(rest)) owner = rest;
				break;
			case 'f': {
				const [, size = '', name = ''] = /^(\d+) (.*)$/.exec(rest) ?? [];
				const bytes = sizeOf(size);
				if (bytes !== undefined && isJobFile(name)) files.set(name, {name, bytes});
				break;
			}
		}
	if (!isWhole) return undefined;
	// What slurmctld says is newer than what has come to the accounts.
	const endings = new Map([...endingsOf(fromAccounts), ...endingsOf(fromControl)]);
	const isUnderWay = [...endings.values()].some(({state}) => !endStates.has(state));
	return {endings, exitCodes, files: [...files.values()], compileLog, owner, isUnderWay};
}

function sizeOf(text: string): number | undefined {
	const size = Number(text);
	return /^\d{1,15}$/.test(text) && Number.isSafeInteger(size) ? size : undefined;
}

/** By index, and lines that are of several: what of an array has not begun stands in one. */
type Found = {readonly own: Map<string, Ending>; readonly together: [indexes: string, ending: Ending][]};

/** Slurm has one line of that sort; more than a few mean nothing. */
const linesTogether = 16;

function note({own, together}: Found, indexes: string, ending: Ending): void {
	if (/^\d*$/.test(indexes)) own.set(indexes, ending);
	else if (together.length < linesTogether) together.push([indexes, ending]);
}

const endingsOf = ({own, together}: Found): ReadonlyMap<string, Ending> =>
	new Map([
		...together.flatMap(([text, ending]) =>
			(parseArrayIndexes(text)?.indexes ?? []).map((index): [string, Ending] => [String(index), ending]),
		),
		...own,
	]);

function readControl(line: string, into: Found): void {
	const field = (name: string): string | undefined => new RegExp(`(?:^| )${name}=(\\S*)`).exec(line)?.[1];
	const state = stateOf(field('JobState') ?? '');
	const index = field('ArrayTaskId') ?? '';
	if (state === '' || !/^[\d,%:-]*$/.test(index)) return;
	const [code = 0, signal = 0] = (field('ExitCode') ?? '').split(':').map(Number);
	const start = timeOf(field('StartTime') ?? '');
	const nodes = field('NodeList');
	const reason = field('Reason');
	note(into, index, {
		state,
		code: countOf(code),
		signal: countOf(signal),
		...(nodes === undefined || nodes === '' || nodes === '(null)' ? {} : {nodes: shortened(nodes)}),
		...(reason === undefined || reason === 'None' ? {} : {reason: shortened(reason)}),
		...(start === undefined ? {} : {start}),
		restarts: countOf(Number(field('Restarts'))),
	});
}

function readAccount(line: string, into: Found): void {
	const [id = '', stateText = '', exit = '', startText = '', , nodes = ''] = line.split('|');
	const [whole, index, indexes = ''] = /^\d+(?:_(?:(\d+)|\[([\d,%:-]+)\]))?$/.exec(id) ?? [];
	const state = stateOf(stateText);
	if (whole === undefined || state === '') return;
	const [code = 0, signal = 0] = exit.split(':').map(Number);
	const start = timeOf(startText);
	note(into, index ?? indexes, {
		state,
		code: countOf(code),
		signal: countOf(signal),
		...(nodes === '' || nodes === 'None assigned' ? {} : {nodes: shortened(nodes)}),
		...(start === undefined ? {} : {start}),
	});
}

const countOf = (value: number): number => (Number.isSafeInteger(value) && value >= 0 ? Math.min(value, 2_147_483_647) : 0);

export type Verdict = {readonly outcome: NonNullable<SlurmJobStatus['outcome']>; readonly seen: SlurmSeen};

/** How a job ended. What Slurm says counts; what it has forgotten, the exit codes say that the job has written itself. */
export function verdictOf(spec: SlurmJobSpec, {endings, exitCodes}: Report): Verdict {
	const indexes = spec.array === undefined ? [''] : (parseArrayIndexes(spec.array)?.indexes ?? []).map(String);
	const parts = indexes.map(index => endings.get(index) ?? ofExitCode(exitCodes.get(index)));
	// One that nobody knows comes before all others, a failure before a success.
	const worst = parts.reduce((one, other) => (severity(other) > severity(one) ? other : one));
	const first = parts.find(({start}) => start !== undefined);
	const seen: SlurmSeen = {
		state: worst.state,
		...(worst.reason === undefined ? {} : {reason: worst.reason}),
		...(worst.nodes === undefined ? {} : {nodes: worst.nodes}),
		...(first?.start === undefined ? {} : {startTime: first.start}),
		...((worst.restarts ?? 0) === 0 ? {} : {restarts: worst.restarts}),
		exitCode: Math.max(...parts.map(({code}) => code)),
		...(worst.signal === 0 ? {} : {signal: worst.signal}),
		...(spec.array === undefined ? {} : {tasks: countsOf(parts.map(({state}) => state))}),
	};
	return {outcome: outcomeOf(spec, worst, parts), seen};
}

/** Of what Slurm has forgotten. */
const lost = 'UNKNOWN';

function ofExitCode(code: number | undefined): Ending {
	if (code === undefined) return {state: lost, code: 0, signal: 0};
	return {state: code === 0 ? 'COMPLETED' : 'FAILED', code, signal: 0};
}

const severity = ({state}: Ending): number =>
	state === 'COMPLETED' ? 0 : state === 'CANCELLED' ? 1 : state === lost ? 3 : endStates.has(state) ? 2 : 3;

function outcomeOf(spec: SlurmJobSpec, worst: Ending, parts: readonly Ending[]): Verdict['outcome'] {
	const ofArray =
		spec.array === undefined ? '' : ` (${parts.filter(({state}) => state !== 'COMPLETED').length} of ${parts.length} did not complete)`;
	const reason = worst.reason ?? wordOf(worst.state);
	switch (worst.state) {
		case 'COMPLETED':
			return {phase: 'Succeeded', reason: 'Completed', message: 'the job is complete'};
		case 'CANCELLED':
			return {phase: 'Cancelled', reason: 'Cancelled', message: `the job was cancelled in Slurm${ofArray}`};
		case lost:
			return {phase: 'Failed', reason: 'Lost', message: `Slurm does not know the job any more, and it has left no exit code${ofArray}`};
		case 'FAILED': {
			const how = worst.signal === 0 ? `exit code ${worst.code}` : `signal ${worst.signal}`;
			return {phase: 'Failed', reason, message: `the job failed with ${how}${ofArray}`};
		}
		default:
			return {phase: 'Failed', reason, message: `Slurm ended the job: ${worst.state}${ofArray}`};
	}
}

/** `NODE_FAIL` as a reason of a condition: `NodeFail`. */
const wordOf = (state: string): string =>
	state
		.toLowerCase()
		.split('_')
		.map(part => `${part.charAt(0).toUpperCase()}${part.slice(1)}`)
		.join('');

// ---- what sbatch refused -----------------------------------------------------------------------------------------------------

const passing =
	/unable to contact|timed out|temporarily|connection refused|connection reset|connection failure|zero bytes|no route|transport endpoint|try again|unexpected message|communication/i;

/** Whether the same may be taken later: Slurm itself did not answer. */
export const mayPassAtSlurm = (said: string): boolean => passing.test(said);
