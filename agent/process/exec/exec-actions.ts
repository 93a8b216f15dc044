// Probes and hooks of containers: requests over the network, and programs that run for a bounded time beside that of the container.

import {succeeded, type Outcome} from '../../../api/errors.js';
import {limits} from '../../../api/limits.js';
import type {ActionResult, ContainerAction, ContainerId} from '../../../actors/node/runtime/runtime-port.js';
import type {Cancel} from '../../../system/time/clock.js';
import {ended, outputTail, tookLonger, tooManyActions} from '../../action-words.js';
import {runNetworkAction} from '../../actions.js';
import type {ExecProgram} from '../../exec-sessions.js';
import {awaitCalls} from '../../functions/when-listens.js';
import type {Done} from '../../handlers.js';
import {notRunning} from '../../refusals.js';
import {systemFailure} from '../../os/explained.js';
import {launch, whenBegun, type Joining, type Target} from './join.js';

export type ExecActions = {
	readonly act: (id: ContainerId, action: ContainerAction, timeoutMs: number, done: Done<ActionResult>) => void;
	/** Ends the programs that run. */
	readonly end: () => void;
};

export function createExecActions(joining: Joining): ExecActions {
	const running = new Set<ActionProgram>();
	const waiting = new Set<Cancel>();
	let requests = 0;
	const hasRoom = (): boolean => requests + waiting.size < limits.networkActions;
	return {
		act(id, action, timeoutMs, done) {
			if (joining.containers.find(id).live?.started === undefined) return done(notRunning(id));
			if (action.type === 'exec') {
				if (running.size >= limits.execActions) return done(tooManyActions(running.size));
				const program = new ActionProgram(joining, id, action.argv, outcome => {
					running.delete(program);
					done(outcome);
				});
				running.add(program);
				return program.begin(timeoutMs);
			}
			if (!hasRoom()) return done(tooManyActions(requests + waiting.size));
			if (action.type === 'runnerListens') return awaitRunner(joining, waiting, id, timeoutMs, done);
			requests++;
			runNetworkAction(action, timeoutMs, joining.clock, result => {
				requests--;
				done(succeeded(result));
			});
		},
		end() {
			for (const program of [...running]) program.stop();
			for (const stop of [...waiting]) stop();
		},
	};
}

function awaitRunner(
	{containers, callsEndOf, clock}: Joining,
	waiting: Set<Cancel>,
	id: ContainerId,
	timeoutMs: number,
	done: Done<ActionResult>,
): void {
	const end = callsEndOf(id.uid);
	if (!end.ok) return done(end);
	const whenEnded = (callback: () => void): Cancel => containers.whenEnded(containers.find(id), callback);
	awaitCalls(end.value, waiting, {timeoutMs, clock, whenEnded}, done);
}

/** The program of one probe or hook. It is answered for once: by its code, or at the end of its time or of its container. */
class ActionProgram {
	readonly #joining: Joining;
	readonly #id: ContainerId;
	readonly #argv: readonly string[];
	readonly #done: Done<ActionResult>;
	#tail: Buffer = Buffer.alloc(0);
	#program: ExecProgram | undefined;
	#isOver = false;
	readonly #cancels: Cancel[] = [];

	constructor(joining: Joining, id: ContainerId, argv: readonly string[], done: Done<ActionResult>) {
		this.#joining = joining;
		this.#id = id;
		this.#argv = argv;
		this.#done = done;
	}

	begin(timeoutMs: number): void {
		const late = (): void => this.#finish(succeeded(tookLonger(this.#argv, timeoutMs, this.#tail)));
		this.#untilOver(this.#joining.clock.after(timeoutMs, late));
		this.#untilOver(whenBegun(this.#joining, this.#id, found => this.#join(found)));
	}

	stop(): void {
		this.#finish(notRunning(this.#id));
	}

	#join(found: Outcome<Target>): void {
		if (this.#isOver) return;
		if (!found.ok) return this.#finish(found);
		const {container} = found.value;
		const refusal = this.#joining.killed.refusal(container);
		if (refusal !== undefined) return this.#finish(succeeded({ok: false, message: refusal}));
		this.#untilOver(this.#joining.containers.whenEnded(container, () => this.stop()));
		const crash = (error: unknown): void => this.#finish(systemFailure(error));
		const wanted = {argv: this.#argv, stdin: false, terminal: undefined};
		try {
			this.#program = launch(this.#joining, found.value, wanted, {
				onOutput: (_stream, data) => void (this.#tail = outputTail(this.#tail, data)),
				onEnd: code => this.#finish(succeeded(ended(code, this.#tail))),
				onError: crash,
			}).program;
		} catch (error) {
			crash(error);
		}
	}

	#finish(outcome: Outcome<ActionResult>): void {
		if (this.#isOver) return;
		this.#isOver = true;
		for (const cancel of this.#cancels) cancel();
		this.#program?.kill();
		this.#program?.drop();
		this.#done(outcome);
	}

	#untilOver(cancel: Cancel): void {
		if (this.#isOver) cancel();
		else this.#cancels.push(cancel);
	}
}
