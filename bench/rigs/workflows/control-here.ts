// The control system in this process, over a real store and on real time, with runs of workflows. What their tasks call is answered here.

import {controlDesign} from '../../../actors/control/design.js';
import type {ControlRootInput} from '../../../actors/control/root.js';
import type {CallTask, TaskOutcome} from '../../../actors/control/workflows/run-message.js';
import type {Message} from '../../../system/kernel/behavior.js';
import {collectionAddress, controlSystem, objectAddress, objectKey} from '../../../api/keys.js';
import type {Run} from '../../../api/kinds/run.js';
import type {Workflow} from '../../../api/kinds/workflow.js';
import type {Json, JsonObject} from '../../../api/object.js';
import {openDurableSystem, type DurableSystem} from '../../../system/commit/durable-system.js';
import type {Change} from '../../../system/index/object-index.js';
import {createNactExecutor} from '../../../system/kernel/nact-executor.js';
import type {StoreDriver} from '../../../system/store/store.js';
import {systemClock} from '../../../system/time/clock.js';
import {systemRandom} from '../../../system/time/random.js';

export type AnswerTask = (call: CallTask, answer: (outcome: TaskOutcome) => void) => void;

export type ControlHere = {
	readonly durable: DurableSystem;
	/** Of every change that is committed from now on. */
	readonly listen: (hear: (change: Change) => void) => () => void;
	/** Resolves when it is kept as a revision. Rejects when it is refused. */
	readonly workflow: (name: string, definition: Json) => Promise<void>;
	/** Resolves when the run is committed. */
	readonly begin: (workflow: string, name: string, input: Json) => Promise<void>;
	readonly cancel: (name: string) => Promise<void>;
	/** Resolves once that many more runs have come to their end than had when this was asked. */
	readonly ended: (count: number) => Promise<void>;
	readonly run: (name: string) => Run | undefined;
	/** In good order; the store is closed. */
	readonly stop: () => Promise<void>;
};

const askMs = 60_000;

/** Loads what the store has, and begins. Rejects where it cannot be read. */
export async function openControlHere(driver: StoreDriver, answerTask: AnswerTask): Promise<ControlHere> {
	const executor = createNactExecutor(systemClock);
	const listeners = new Set<(change: Change) => void>();
	const fail = (message: string): never => {
		throw new Error(message);
	};
	const durable = await new Promise<DurableSystem>((resolve, reject) =>
		openDurableSystem(
			{
				name: controlSystem,
				design: controlDesign,
				inputOf: ({epoch, lineage}): ControlRootInput => ({epoch, lineage, version: '0.0.0', localNodes: []}),
				driver,
				executor,
				clock: systemClock,
				random: systemRandom,
				perform(command, done) {
					if (command.type === 'callTask') answerTask(command as CallTask, value => done({ok: true, value}));
					else done({ok: true, value: null});
				},
				onFenced: fail,
				onEscalation: error => fail(error.message),
				onChange(change) {
					for (const hear of listeners) hear(change);
				},
			},
			outcome => (outcome.ok ? resolve(outcome.value) : reject(new Error(outcome.error.message))),
		),
	);
	const listen: ControlHere['listen'] = hear => {
		listeners.add(hear);
		return () => listeners.delete(hear);
	};
	const seen = (isSo: (change?: Change) => boolean): Promise<void> =>
		new Promise(resolve => {
			if (isSo()) return resolve();
			const forget = listen(change => {
				if (!isSo(change)) return;
				forget();
				resolve();
			});
		});
	const ask = (to: string, message: Message & {readonly [member: string]: unknown}): Promise<void> =>
		new Promise((resolve, reject) =>
			durable.system.ask(to, message, {deadlineMs: askMs, cause: 'bench'}, outcome =>
				outcome.ok ? resolve() : reject(new Error(outcome.error.message)),
			),
		);
	const create = (kind: string, plural: string, name: string, spec: JsonObject): Promise<void> =>
		ask(collectionAddress(plural), {
			type: 'create',
			object: {apiVersion: 'troupe.dev/v1', kind, metadata: {name, namespace: 'default'}, spec},
		});
	const here: ControlHere = {
		durable,
		listen,
		async workflow(name, definition) {
			await create('Workflow', 'workflows', name, {definition});
			const key = objectKey('workflows', 'default', name);
			await seen(() => (durable.index.get(key) as Workflow | undefined)?.status?.revisionName !== undefined);
		},
		begin: (workflow, name, input) => create('Run', 'runs', name, {workflow, input}),
		cancel: name => ask(objectAddress(objectKey('runs', 'default', name)), {type: 'patch', patch: {spec: {cancel: true}}}),
		ended(count) {
			let left = count;
			return seen(change => left === 0 || (change !== undefined && isEnd(change) && --left === 0));
		},
		run: name => durable.index.get(objectKey('runs', 'default', name)) as Run | undefined,
		async stop() {
			await new Promise<void>(resolve => durable.stop(resolve));
			await driver.close();
			executor.close();
		},
	};
	durable.begin();
	await seen(() => durable.index.get('namespaces/_/default') !== undefined);
	return here;
}

const isEnd = ({before, after}: Change): boolean =>
	after?.object.kind === 'Run' && isOver(after.object as Run) && !isOver(before?.object as Run | undefined);

const isOver = (run: Run | undefined): boolean => run?.status?.completionTime !== undefined;
