// Probes and hooks of containers: requests over the network, and programs that run for a bounded time beside that of the container.

import {failed, succeeded, type Outcome} from '../../../api/errors.js';
import {limits} from '../../../api/limits.js';
import type {ActionResult, ContainerAction, ContainerId} from '../../../actors/node/runtime/runtime-port.js';
import type {Cancel} from '../../../system/time/clock.js';
import {runNetworkAction} from '../../actions.js';
import type {ExecProgram} from '../../exec-sessions.js';
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
	let requests = 0;
	return {
		act(id, action, timeoutMs, done) {
			if (joining.containers.find(id).live?.started === undefined) return done(notRunning(id));
			if (action.type === 'exec') {
				if (running.size >= limits.execActions) return done(busy(running.size));
				const program = new ActionProgram(joining, id, action.argv, outcome => {
					running.delete(program);
					done(outcome);
				});
				running.add(program);
				return program.begin(timeoutMs);
			}
			if (requests >= limits.networkActions) return done(busy(requests));
			requests++;
			runNetworkAction(action, timeoutMs, joining.clock, result => {
				requests--;
				done(succeeded(result));
			});
		},
		end() {
			for (const program of [...running]) program.stop();
		},
	};
}

const busy = (waiting: number): Outcome<ActionResult> => failed('ERR_BUSY', {address: 'probes and hooks', waiting});

/** The program of one probe or hook. It is answered for once: by its code, or at the end of its time or of its container. */
class ActionProgram {
	readonly #joining: Joining;
	readonly #id: ContainerId;
	readonly #argv: readonly string[];
	readonly #done: Done<ActionResult>;
	#tail = Buffer.alloc(0);
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
		const late = (): string => withTail(`command ${quoted(this.#argv)} took longer than ${timeoutMs} ms`, this.#tail);
		this.#untilOver(this.#joining.clock.after(timeoutMs, () => this.#fail(late())));
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
		if (refusal !== undefined) return this.#fail(refusal);
		this.#untilOver(this.#joining.containers.whenEnded(container, () => this.stop()));
		const crash = (error: unknown): void => this.#finish(systemFailure(error));
		const wanted = {argv: this.#argv, stdin: false, terminal: undefined};
		try {
			this.#program = launch(this.#joining, found.value, wanted, {
				onOutput: (_stream, data) => void (this.#tail = Buffer.concat([this.#tail, data]).subarray(-limits.actionOutputBytes)),
				onEnd: code => this.#end(code),
				onError: crash,
			}).program;
		} catch (error) {
			crash(error);
		}
	}

	#end(code: number): void {
		if (code === 0) this.#finish(succeeded({ok: true, message: textOf(this.#tail)}));
		else this.#fail(withTail(`exit ${code}`, this.#tail));
	}

	#fail(message: string): void {
		this.#finish(succeeded({ok: false, message}));
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

const textOf = (tail: Buffer): string =>
	tail
		.toString('utf8')
		.replace(/^\uFFFD+/, '')
		.trim();

const withTail = (text: string, tail: Buffer): string => (tail.length === 0 ? text : `${text}: ${textOf(tail)}`);

const quoted = (argv: readonly string[]): string => JSON.stringify(argv.join(' ')).slice(0, limits.shownCharacters);
