// A broker where everybody may come in and use any topic but `forbidden`, and the proofs of one group of the table.

import type {ExecutionContext, TestFn} from 'ava';
import {createBroker, type Broker} from '../../../../system/broker/broker.js';
import {ManualClock} from '../../../../system/time/manual-clock.js';
import {behaviours, type Group} from './behaviours.js';
import {connectPacket, type ConnectFields} from '../../../../bench/rigs/mqtt/packets.js';
import {openWire, type Wire} from './_wire.js';

export type Rig = {
	readonly broker: Broker;
	readonly clock: ManualClock;
	/** A connection that has said nothing. */
	readonly dial: () => Promise<Wire>;
	/** A client with a login. */
	readonly join: (fields?: ConnectFields) => Promise<Wire>;
	/** The broker has stopped, and another one has started in its place. */
	readonly again: () => Promise<Rig>;
};

export type Proof = (t: ExecutionContext, rig: Rig) => Promise<void>;

/** The password of everybody is `secret`. */
export const login = {user: 'ann', password: 'secret'} as const;

/** A test for each row of the group, under the group's name and the row's words. */
export function prove<Name extends Group>(test: TestFn, group: Name, proofs: Record<keyof (typeof behaviours)[Name], Proof>): void {
	for (const situation of Object.keys(behaviours[group]) as (keyof (typeof behaviours)[Name])[]) {
		const proof = proofs[situation];
		test(`${group}: ${String(situation)}`, async t => proof(t, await openRig(t)));
	}
}

async function openRig(t: ExecutionContext): Promise<Rig> {
	const clock = new ManualClock();
	const broker = await createBroker({
		clock,
		authenticate: (name, password) => (name !== undefined && password === login.password ? {name} : undefined),
		may: ({name}, _verb, topic) => name !== 'nobody' && !topic.startsWith('forbidden'),
		retainedSource: {match: () => [], owns: () => false},
	});
	t.teardown(() => broker.close());
	const {port} = await broker.listen('127.0.0.1', 0);
	const dial = (): Promise<Wire> => openWire(t, port);
	return {
		broker,
		clock,
		dial,
		async join(fields = {}) {
			const wire = await dial();
			wire.send(connectPacket({...login, ...fields}));
			t.regex(await wire.next(), /^connack [01] 0$/);
			return wire;
		},
		async again() {
			await broker.close();
			return openRig(t);
		},
	};
}
