// What an inspector changes: messages from outside, pauses, crashes and restarts that somebody wants. Whether somebody may is asked above.

import {failed, failure, succeeded, type Outcome} from '../../api/errors.js';
import type {ChangeAnswer, ChangeRequest} from '../../api/inspect.js';
import {limits} from '../../api/limits.js';
import type {ActorSystem} from '../kernel/actor-system.js';
import {isReply, type Message} from '../kernel/behavior.js';
import type {Cell, Hold} from '../kernel/cell.js';
import {restartAlone} from '../kernel/restarts.js';
import {isForRuntime} from '../kernel/watch-message.js';
import {numberIn} from './numbers.js';
import type {IsSecret} from './portable.js';
import {shownOf} from './shown.js';

type Done = (outcome: Outcome<ChangeAnswer>) => void;

type ChangeOf<Verb extends ChangeRequest['verb']> = Extract<ChangeRequest, {verb: Verb}>;

const cause = 'inspector';

const done = (what: string): Outcome<ChangeAnswer> => succeeded({done: what});
const refused = (message: string): Outcome<never> => failed('ERR_BAD_REQUEST', {message});

/** `ownPath`: of the actor that is asked by whoever looks. */
export function change(
	system: ActorSystem,
	cell: Cell,
	request: ChangeOf<'tell' | 'ask' | 'pause' | 'step' | 'resume' | 'kill' | 'restart'>,
	{isSecret, ownPath}: {readonly isSecret: IsSecret; readonly ownPath: string},
	answer: Done,
): void {
	if (cell.path === ownPath && (request.verb === 'tell' || request.verb === 'ask')) {
		// Else a change could hide in a message, of which the audit log has the type alone.
		answer(refused('the inspector is told nothing but requests: make this one itself'));
		return;
	}
	switch (request.verb) {
		case 'tell':
			answer(tell(system, cell, request));
			return;
		case 'ask':
			ask(system, cell, request, isSecret, answer);
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
			answer(kill(system, cell));
			return;
		case 'restart':
			answer(restart(system, cell));
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

function tell(system: ActorSystem, cell: Cell, {message}: ChangeOf<'tell'>): Outcome<ChangeAnswer> {
	const problem = problemOf(message);
	if (problem !== undefined) return refused(problem);
	const full = busy(cell);
	if (full !== undefined) return full;
	system.tell(cell.address, message, cause);
	return done(`${cell.address} was told "${message.type}"`);
}

function ask(system: ActorSystem, cell: Cell, request: ChangeOf<'ask'>, isSecret: IsSecret, answer: Done): void {
	const {message} = request;
	const problem = problemOf(message);
	if (problem !== undefined) {
		answer(refused(problem));
		return;
	}
	const deadlineMs = numberIn(request.deadlineMs, limits.askDeadlineMs, 1, limits.inspectAskMs);
	system.ask(cell.address, message, {deadlineMs, cause}, outcome => {
		if (!outcome.ok) answer(outcome);
		else answer(succeeded({done: `${cell.address} answered "${message.type}"`, value: shownOf(outcome.value, {isSecret})}));
	});
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
	return done(`${cell.address} takes no message for ${forMs} ms, unless it is resumed`);
}

function step(cell: Cell, request: ChangeOf<'step'>): Outcome<ChangeAnswer> {
	const {held, mailbox, address} = cell;
	if (held === undefined) return refused(`"${address}" is not paused: only a paused actor can be stepped`);
	if (held.isSlowed === true) return refused(isSlowed(cell));
	held.left = Math.min(limits.inspectListed, held.left + numberIn(request.count, 1, 1, limits.inspectListed));
	const waiting = mailbox.length;
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

const isSlowed = ({address}: Cell): string => `a fault slows "${address}": end it first, by heal`;

function release(cell: Cell): void {
	cell.held?.cancel();
	cell.held = undefined;
	cell.requestTurn();
}

// ---- crashes and restarts ------------------------------------------------------------------------------------------------------

function kill({kernel}: ActorSystem, cell: Cell): Outcome<ChangeAnswer> {
	const {address, status, committing} = cell;
	if (status !== 'running') return refused(`"${address}" does not run: it is ${status}`);
	kernel.crash(cell, failure('ERR_ACTOR_CRASHED', {address, message: 'killed by an inspector'}), 'kill', '');
	return done(committing ? `${address} crashes once what it commits is decided` : `${address} has crashed`);
}

function restart({kernel}: ActorSystem, cell: Cell): Outcome<ChangeAnswer> {
	const {address, status, spec} = cell;
	if (spec.restart === 'temporary') return refused(`"${address}" is temporary: it is never started again`);
	return restartAlone(kernel, cell)
		? done(`${address} ends, its children first, and begins anew`)
		: refused(`"${address}" does not run: it is ${status}`);
}
