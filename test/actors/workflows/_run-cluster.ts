// The control system with runs of workflows on a clock that only tests move: it can be killed between any two turns, and begins again from its store.
// Tasks are carried out by a world of its own, which outlives it and knows an attempt that it has had.

import {controlDesign} from '../../../actors/control/design.js';
import type {ControlRootInput} from '../../../actors/control/root.js';
import type {CallTask, StopTask, TaskOutcome} from '../../../actors/control/workflows/run-message.js';
import {frameIn} from '../../../actors/control/workflows/run-parts.js';
import {frameOfKey, keyOf} from '../../../actors/workflows/keys.js';
import {failed, type Outcome} from '../../../api/errors.js';
import {collectionAddress, controlSystem, objectAddress, objectKey, storeKey, type ObjectKey} from '../../../api/keys.js';
import type {Run} from '../../../api/kinds/run.js';
import type {Workflow} from '../../../api/kinds/workflow.js';
import type {ApiObject, Json, JsonObject} from '../../../api/object.js';
import {openDurableSystem, type DurableSystem} from '../../../system/commit/durable-system.js';
import type {Change} from '../../../system/index/object-index.js';
import type {Command, Message} from '../../../system/kernel/behavior.js';
import {formatRecord, parseRecord} from '../../../system/store/record.js';
import type {StoreDriver} from '../../../system/store/store.js';
import {createMemoryStore, emptyMemoryStore} from '../../../system/store/memory-store.js';
import {ManualClock} from '../../../system/time/manual-clock.js';
import {seededRandom} from '../../../system/time/random.js';
import {createSequencer} from '../../../system/world/sequencer.js';

/** What comes of a call, and after how many milliseconds; `never`: nothing does. */
export type Answering = (call: CallTask, state: string) => {readonly afterMs?: number; readonly outcome: TaskOutcome | 'never'};

export const gives = (output: Json): TaskOutcome => ({type: 'succeeded', output});
export const throws = (name: string, cause = ''): TaskOutcome => ({type: 'failed', error: {Error: name, Cause: cause}});

/** What of a key is the state. */
export const stateOfKey = (key: string): string => /\d+-(.*)\.\d+$/.exec(key.slice(key.lastIndexOf('/') + 1))?.[1] ?? key;

const runOf = (workflow: string, name: string, input: Json, more: JsonObject = {}): JsonObject => ({
	apiVersion: 'troupe.dev/v1',
	kind: 'Run',
	metadata: {name, namespace: 'default'},
	spec: {workflow, input, ...more},
});

export class RunCluster {
	readonly time = new ManualClock();
	/** Every time that a task was begun, in order: a call of an attempt that is known already begins nothing. */
	readonly begun: string[] = [];
	/** Every call that came, also those of attempts that are known. */
	readonly calls: string[] = [];
	readonly stopped: string[] = [];
	readonly changes: Change[] = [];
	/** What must not be: a call of what is not committed as under way, or was answered and committed. */
	readonly violations: string[] = [];
	/** Whether the next write to the store fails. */
	failsToWrite: () => boolean = () => false;
	/** Whether who has called does not hear of what comes of it. */
	losesOutcome: () => boolean = () => false;
	readonly #answering: Answering;
	readonly #data = emptyMemoryStore();
	readonly #random;
	readonly #attempts = new Map<string, TaskOutcome | undefined>();
	readonly #waiting = new Map<string, ((outcome: Outcome<unknown>) => void)[]>();
	#sequencer;
	#life = 0;
	#durable: DurableSystem | undefined;

	constructor(answering: Answering, seed = 1) {
		this.#answering = answering;
		this.#random = seededRandom(seed);
		this.#sequencer = createSequencer(this.#random);
		this.start();
	}

	/** Kills what runs, with all it had in mind, and begins again from the store. What is done is done; calls go on outside. */
	start(): void {
		this.#durable?.kill();
		this.#waiting.clear();
		this.#sequencer.close();
		this.#sequencer = createSequencer(this.#random);
		const life = ++this.#life;
		const sequencer = this.#sequencer;
		openDurableSystem(
			{
				name: controlSystem,
				design: {...controlDesign, resync: false},
				inputOf: ({epoch, lineage}): ControlRootInput => ({epoch, lineage, version: '0.0.0', localNodes: []}),
				driver: this.#failing(createMemoryStore(sequencer.defer, this.#data), sequencer.defer),
				executor: {...sequencer, close: () => undefined},
				clock: this.time,
				random: this.#random,
				perform: (command, done) => this.#perform(command, outcome => void (life === this.#life && sequencer.defer(() => done(outcome)))),
				onFenced: () => undefined,
				onEscalation: error => {
					throw new Error(error.message);
				},
				onChange: change => void (life === this.#life && this.changes.push(change)),
			},
			outcome => {
				if (!outcome.ok) throw new Error(outcome.error.message);
				this.#durable = outcome.value;
				outcome.value.begin();
			},
		);
		while (this.#durable === undefined || this.#durable.index.get('namespaces/_/default') === undefined)
			if (!this.#sequencer.runOne()) throw new Error('it does not begin');
	}

	#failing(driver: StoreDriver, defer: (callback: () => void) => void): StoreDriver {
		return {
			...driver,
			commit: (batch, done) =>
				batch.writes.length > 0 && this.failsToWrite()
					? defer(() => done({type: 'failed', message: 'the disk is full'}))
					: driver.commit(batch, done),
		};
	}

	#perform(command: Command, done: (outcome: Outcome<unknown>) => void): void {
		if (command.type === 'stopTask') {
			this.stopped.push((command as StopTask).key);
			return done({ok: true, value: null});
		}
		if (command.type !== 'callTask') return done(failed('ERR_INTERNAL', {message: command.type}));
		const call = command as CallTask;
		this.calls.push(call.key);
		if (!this.#isUnderWay(call)) this.violations.push(`${call.key} is called and not under way`);
		if (this.losesOutcome()) this.time.after(10, () => done(failed('ERR_OUTCOME_UNKNOWN', {address: 'edge'})));
		if (call.isMade === true && this.#attempts.get(call.key)?.type === 'made') this.#attempts.delete(call.key);
		if (this.#attempts.has(call.key)) {
			const known = this.#attempts.get(call.key);
			if (known !== undefined) return done({ok: true, value: known});
			this.#waiting.set(call.key, [...(this.#waiting.get(call.key) ?? []), done]);
			return;
		}
		this.begun.push(call.key);
		this.#attempts.set(call.key, undefined);
		this.#waiting.set(call.key, [done]);
		const {afterMs = 0, outcome} = this.#answering(call, stateOfKey(call.key));
		if (outcome === 'never') return;
		this.time.after(afterMs, () => {
			this.#attempts.set(call.key, outcome);
			for (const waiting of this.#waiting.get(call.key) ?? []) waiting({ok: true, value: outcome});
			this.#waiting.delete(call.key);
		});
	}

	#isUnderWay({key, run: {namespace, name, uid}, isMade}: CallTask): boolean {
		const head = {id: uid};
		const frame = frameIn(this.durable.index, objectKey('runs', namespace, name), frameOfKey(head, key) ?? 'none');
		const isCalled = frame?.phase.type === 'task' && frame.phase.called === isMade;
		return isCalled && keyOf(head, frame) === key && this.durable.index.byUid(uid) !== undefined;
	}

	/** Everything that can happen without time passing; whether it has come to rest within so many turns. */
	settle(turns = 1_000_000): boolean {
		for (let turn = 0; turn < turns; turn++) if (!this.#sequencer.runOne()) return true;
		return false;
	}

	/** One turn; false where there is none. */
	turn(): boolean {
		return this.#sequencer.runOne();
	}

	/** Until an object is changed, and so many turns more; or until it comes to rest without that. */
	untilStep(key: string, turns: number): boolean {
		for (const before = this.changes.length; !this.changes.slice(before).some(change => change.key === key);)
			if (!this.#sequencer.runOne()) return true;
		this.settle(turns);
		return false;
	}

	/** Lets time pass until nothing is to come, or the run is over. */
	untilOver(name: string, mostMs = 100_000_000): Run {
		const untilMs = this.time.monotonicMs() + mostMs;
		for (;;) {
			this.settle();
			const run = this.run(name);
			if (run.status?.completionTime !== undefined) return run;
			const atMs = this.time.nextAtMs();
			if (atMs === undefined || atMs > untilMs) throw new Error(`the run stands still: ${JSON.stringify(run.status)}`);
			this.time.fireNext();
		}
	}

	pass(ms: number): void {
		const untilMs = this.time.monotonicMs() + ms;
		for (this.settle(); this.time.monotonicMs() < untilMs; this.settle())
			this.time.advance(Math.min((this.time.nextAtMs() ?? untilMs) - this.time.monotonicMs(), untilMs - this.time.monotonicMs()) || 0.001);
	}

	ask(to: string, message: Message & {readonly [member: string]: unknown}): Outcome<unknown> {
		let answer: Outcome<unknown> | undefined;
		this.durable.system.ask(to, message, {deadlineMs: 10_000, cause: 'test'}, outcome => (answer = outcome));
		this.settle();
		return answer ?? failed('ERR_TIMEOUT', {address: to, deadlineMs: 0});
	}

	/** Asks, and waits for nothing: what comes of it comes with further turns. */
	send(to: string, message: Message & {readonly [member: string]: unknown}): void {
		this.durable.system.ask(to, message, {deadlineMs: 10_000, cause: 'test'}, () => undefined);
	}

	create(plural: string, object: unknown): void {
		const outcome = this.ask(collectionAddress(plural), {type: 'create', object});
		if (!outcome.ok) throw new Error(outcome.error.message);
	}

	workflow(name: string, definition: object, more: JsonObject = {}): void {
		this.create('workflows', {
			apiVersion: 'troupe.dev/v1',
			kind: 'Workflow',
			metadata: {name, namespace: 'default'},
			spec: {definition, ...more},
		});
	}

	begin(workflow: string, name: string, input: Json = {}, more: JsonObject = {}): void {
		this.create('runs', runOf(workflow, name, input, more));
	}

	/** The same without waiting for it. */
	sendBegin(workflow: string, name: string, input: Json): void {
		this.send(collectionAddress('runs'), {type: 'create', object: runOf(workflow, name, input)});
	}

	tellRun(name: string, message: Message & {readonly [member: string]: unknown}): Outcome<unknown> {
		return this.ask(objectAddress(objectKey('runs', 'default', name)), message);
	}

	patchRun(name: string, spec: JsonObject): void {
		const outcome = this.tellRun(name, {type: 'patch', patch: {spec}});
		if (!outcome.ok) throw new Error(outcome.error.message);
	}

	/** The same without waiting for it. */
	sendRun(name: string, message: Message & {readonly [member: string]: unknown}): void {
		this.send(objectAddress(objectKey('runs', 'default', name)), message);
	}

	run(name: string): Run {
		const run = this.durable.index.get(objectKey('runs', 'default', name));
		if (run === undefined) throw new Error(`there is no run ${name}`);
		return run as Run;
	}

	workflowObject(name: string): Workflow {
		return this.durable.index.get(objectKey('workflows', 'default', name)) as Workflow;
	}

	/** What the store has of a prefix. */
	stored(prefix: string): readonly string[] {
		return [...this.#data.bodies.keys()].filter(key => key.startsWith(prefix)).sort();
	}

	/** Kills what runs, changes an object as it is stored, and begins again. */
	changeStored(key: ObjectKey, change: (object: ApiObject) => ApiObject): void {
		this.#durable?.kill();
		const record = parseRecord(key, this.#data.bodies.get(storeKey(key))?.() ?? '');
		if ('problem' in record) throw new Error(record.problem);
		const text = formatRecord(record.schemaVersion, JSON.stringify(change(record.object)));
		this.#data.bodies.set(storeKey(key), () => text);
		this.start();
	}

	get durable(): DurableSystem {
		if (this.#durable === undefined) throw new Error('it does not run');
		return this.#durable;
	}
}
