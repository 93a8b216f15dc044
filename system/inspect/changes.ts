// What an inspector changes: it sends messages, pauses, crashes and restarts actors. The server has checked the rights of the login.

import {failed, failure, succeeded, type Outcome} from '../../api/errors.js';
import type {ChangeAnswer, ChangeRequest} from '../../api/inspect.js';
import {address as addressOf} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import {shown} from '../../api/shown.js';
import type {ActorSystem} from '../kernel/actor-system.js';
import {isReply, type Message} from '../kernel/behavior.js';
import type {Cell, Hold} from '../kernel/cell.js';
import type {Executor} from '../kernel/executor.js';
import type {Kernel} from '../kernel/kernel.js';
import {crashOutright, restartAlone} from '../kernel/restarts.js';
import {isForRuntime} from '../kernel/watch-message.js';
import {restartsLeft} from './actor-look.js';
import type {Inspecting} from './inspecting.js';
import {numberIn} from './numbers.js';
import {shownOf} from './shown.js';
import {whenUnanswered} from './unanswered.js';

type Done = (outcome: Outcome<ChangeAnswer>) => void;

type ChangeOf<Verb extends ChangeRequest['verb']> = Extract<ChangeRequest, {verb: Verb}>;

const done = (what: string): Outcome<ChangeAnswer> => succeeded({done: what});
const refused = (message: string): Outcome<never> => failed('ERR_BAD_REQUEST', {message});

export type Changing = Pick<Inspecting, 'system' | 'isSecret' | 'ownPath'> & {
	/** The login that asks for it, as the server worded it. */
	readonly cause: string;
};

export function change(
	cell: Cell,
	request: ChangeOf<'tell' | 'ask' | 'pause' | 'step' | 'resume' | 'kill' | 'restart'>,
	changing: Changing,
	answer: Done,
): void {
	const {system, ownPath} = changing;
	if (cell.path === ownPath && (request.verb === 'tell' || request.verb === 'ask')) {
		// Else a change could hide in a message, of which the audit log has the type alone.
		answer(refused('the inspector is told nothing but requests: make this one itself'));
		return;
	}
	switch (request.verb) {
		case 'tell':
			answer(tell(changing, cell, request));
			return;
		case 'ask':
			ask(changing, cell, request, answer);
			return;
		case 'pause':
			answer(
				cell.path === ownPath
					? refused('the inspector cannot be paused: nobody could be asked to resume it')
					: pause(system, cell, request),
			);
			return;
		case 'step':
			answer(step(cell, request));
			return;
		case 'resume':
			answer(resume(cell));
			return;
		case 'kill':
			end(changing, cell, killing(cell, system.options.clock.monotonicMs()), answer);
			return;
		case 'restart':
			end(changing, cell, restarting(cell), answer);
	}
}

// ---- messages ------------------------------------------------------------------------------------------------------------------

/** A message that no stranger may send, and why. */
function problemOf(message: unknown): string | undefined {
	if (typeof message !== 'object' || message === null || typeof (message as Message).type !== 'string')
		return 'message must be an object with a type';
	if (isForRuntime(message as Message)) return `"${(message as Message).type}" is between the runtimes of systems; no actor is sent it`;
	if (isReply(message as Message)) return 'a message with id and outcome is an answer: only the actor that was asked gives it';
	if ('replyTo' in message) return 'replyTo is set by the runtime: use ask';
	return undefined;
}

/** What comes from outside is bounded. */
const busy = ({address, mailbox}: Cell): Outcome<never> | undefined =>
	mailbox.outside < limits.mailboxMessages ? undefined : failed('ERR_BUSY', {address, waiting: mailbox.outside});

function tell({system, cause}: Changing, cell: Cell, {message}: ChangeOf<'tell'>): Outcome<ChangeAnswer> {
	const problem = problemOf(message);
	if (problem !== undefined) return refused(problem);
	const full = busy(cell);
	if (full !== undefined) return full;
	system.tell(cell.address, message, cause);
	return done(`${cell.address} was told "${message.type}"`);
}

function ask({system, cause, isSecret}: Changing, cell: Cell, request: ChangeOf<'ask'>, answer: Done): void {
	const {message} = request;
	const problem = problemOf(message);
	if (problem !== undefined) {
		answer(refused(problem));
		return;
	}
	if (cell.held?.left === 0 && cell.held.isSlowed !== true) {
		answer(refused(`"${cell.address}" is paused, and answers nothing: resume it first, or tell it`));
		return;
	}
	const deadlineMs = numberIn(request.deadlineMs, limits.askDeadlineMs, 1, limits.inspectAskMs);
	let isAnswered = false;
	let stopLooking = (): void => undefined;
	const question = system.ask(cell.address, message, {deadlineMs, cause}, outcome => {
		isAnswered = true;
		stopLooking();
		if (!outcome.ok) answer(outcome);
		else answer(succeeded({done: `${cell.address} answered "${message.type}"`, value: shownOf(outcome.value, {isSecret})}));
	});
	if (isAnswered) return;
	stopLooking = whenUnanswered(system.kernel, cell, question, () =>
		answer(refused(`"${cell.address}" took ${shown(message.type)}, and has no answer to it: tell it instead`)),
	);
}

// ---- pauses --------------------------------------------------------------------------------------------------------------------

/** It ends by itself; a further one begins its time anew. */
function pause({options: {clock}}: ActorSystem, cell: Cell, request: ChangeOf<'pause'>): Outcome<ChangeAnswer> {
	if (cell.held?.isSlowed === true) return refused(isSlowed(cell));
	const forMs = numberIn(request.forMs, limits.inspectUsualMs, 1, limits.inspectForMs);
	cell.held?.cancel();
	const held: Hold = {
		left: cell.held?.left ?? 0,
		untilMs: clock.monotonicMs() + forMs,
		cancel: clock.after(forMs, () => {
			if (cell.held === held) release(cell);
		}),
	};
	cell.held = held;
	return done(`${cell.address} takes no message for ${forMs < 1_000 ? `${forMs} ms` : `${forMs / 1_000} s`}, unless it is resumed`);
}

function step(cell: Cell, request: ChangeOf<'step'>): Outcome<ChangeAnswer> {
	const {held, mailbox, address} = cell;
	if (held === undefined) return refused(`"${address}" is not paused: only a paused actor can be stepped`);
	if (held.isSlowed === true) return refused(isSlowed(cell));
	held.left = Math.min(limits.inspectListed, held.left + numberIn(request.count, 1, 1, limits.inspectListed));
	const waiting = mailbox.length;
	if (waiting === 0)
		return done(`no message waits for ${address}: it takes the next ${held.left === 1 ? 'one that comes' : `${held.left} that come`}`);
	cell.requestTurn();
	return done(
		`${address} takes ${held.left === 1 ? 'one message' : `${held.left} messages`}; ${waiting} ${waiting === 1 ? 'waits' : 'wait'}`,
	);
}

function resume(cell: Cell): Outcome<ChangeAnswer> {
	const {held, mailbox, address} = cell;
	if (held === undefined) return refused(`"${address}" is not paused`);
	if (held.isSlowed === true) return refused(isSlowed(cell));
	release(cell);
	return done(`${address} goes on; ${mailbox.length} ${mailbox.length === 1 ? 'message waits' : 'messages wait'}`);
}

const isSlowed = ({address}: Cell): string => `a fault slows "${address}": that has to end first (troupe fault end)`;

function release(cell: Cell): void {
	cell.held?.cancel();
	cell.held = undefined;
	cell.requestTurn();
}

// ---- crashes and restarts ------------------------------------------------------------------------------------------------------

/** What ends an instance, and what is said of that. */
type Ending = {
	/** The uppermost actor that ends by it. */
	readonly upTo: Cell;
	/** What is said before it is done. */
	readonly before: string;
	/** What is said afterwards. */
	readonly run: (kernel: Kernel, cell: Cell) => string;
};

/** What ends the actor by which this was asked is answered before: with that one its answers end. */
function end({system: {kernel, options}, ownPath}: Changing, cell: Cell, ending: Outcome<Ending>, answer: Done): void {
	if (!ending.ok) {
		answer(ending);
		return;
	}
	const {upTo, before, run} = ending.value;
	const own = kernel.cells.get(addressOf(options.name, ownPath));
	if (own === undefined || !isAtOrBelow(own, upTo)) {
		answer(done(run(kernel, cell)));
		return;
	}
	answer(done(before));
	onceAnswered(own, options.executor, () => void run(kernel, cell));
}

function isAtOrBelow(cell: Cell | undefined, above: Cell): boolean {
	for (let at = cell; at !== undefined; at = at.parent) if (at === above) return true;
	return false;
}

/** Turns after which the change no longer waits for the answer to go. */
const mostTurns = 1_000;

function onceAnswered(own: Cell, executor: Executor, then: () => void, turns = 0): void {
	executor.defer(() => {
		if (own.mailbox.isEmpty || turns >= mostTurns) then();
		else onceAnswered(own, executor, then, turns + 1);
	});
}

/** Why nothing of it can end now. */
function idleProblem({address, status}: Cell): string | undefined {
	if (status === 'running') return undefined;
	return `"${address}" does not run: ${status === 'restarting' ? 'it has ended, and is being started again by itself' : `it is ${status}`}`;
}

function killing(cell: Cell, nowMs: number): Outcome<Ending> {
	const {address} = cell;
	const problem = idleProblem(cell);
	if (problem !== undefined) return refused(problem);
	const upTo = startedAgain(cell, nowMs);
	if (upTo === undefined)
		return refused(
			`"${address}" has crashed ${limits.restartIntensity} times within ${limits.restartWindowMs / 1_000} s, and so has what is above it: one more crash would end the process. Restart it instead`,
		);
	const before =
		upTo === cell
			? `${address} crashes, and begins anew with all that is below it`
			: `${address} crashes once too often: ${upTo.address} fails with it, and begins anew with all that is below it`;
	return succeeded({upTo, before, run: kill});
}

/** Past their intensity actors are the failure of those above them. Undefined: of the root, too, and so of the system. */
function startedAgain(cell: Cell, nowMs: number): Cell | undefined {
	for (let at: Cell | undefined = cell; at !== undefined; at = at.parent) {
		const {behavior, parked, spec} = at;
		const isIts = spec.restart === 'temporary' || behavior.parking !== undefined || behavior.pastIntensity === 'backOff';
		if (isIts || parked !== undefined || restartsLeft(at, nowMs) > 0) return at;
	}
	return undefined;
}

function kill(kernel: Kernel, cell: Cell): string {
	const {address, committing} = cell;
	crashOutright(kernel, cell, failure('ERR_ACTOR_CRASHED', {address, message: 'killed by an inspector'}), 'kill');
	return committing ? `${address} crashes once what it commits is decided` : `${address} has crashed${afterCrash(cell)}`;
}

/** Where that is something else than a start at once. */
function afterCrash({parked, status, longRests, spec}: Cell): string {
	if (parked !== undefined) return ', and is parked: what its kind does by itself rests, and is tried again by itself';
	if (status === 'restarting') return longRests > 0 ? ', once too often: it is started again after a rest' : '';
	return spec.restart === 'temporary' ? ', and is gone: it is temporary' : ', once too often: its supervisor fails with it';
}

function restarting(cell: Cell): Outcome<Ending> {
	const {address, spec} = cell;
	if (spec.restart === 'temporary') return refused(`"${address}" is temporary: it is never started again`);
	const problem = idleProblem(cell);
	const before = `${address} ends, its children first, and begins anew`;
	return problem === undefined ? succeeded({upTo: cell, before, run: restart}) : refused(problem);
}

function restart(kernel: Kernel, cell: Cell): string {
	restartAlone(kernel, cell);
	return `${cell.address} ends, its children first, and begins anew`;
}
