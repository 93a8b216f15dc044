// Several systems on one time, over links that lose, repeat and delay what the test wants, in an order that the seed says.

import {address} from '../../../api/keys.js';
import {ActorSystem} from '../../../system/kernel/actor-system.js';
import type {Message} from '../../../system/kernel/behavior.js';
import {Bus, type BusOptions} from '../../../system/links/bus.js';
import type {Link, Packet} from '../../../system/links/link.js';
import type {Envelope} from '../../../system/kernel/mailbox.js';
import {ManualClock} from '../../../system/time/manual-clock.js';
import {seededRandom} from '../../../system/time/random.js';
import {createSequencer} from '../../../system/world/sequencer.js';
import {observing, type Seen} from '../kernel/actor-world.js';
import {puppet, type Play} from '../kernel/puppet.js';

/** Shares from 0 to 1, and how late the late ones are. */
export type Trouble = {readonly drop: number; readonly repeat: number; readonly delay: number; readonly delayMs: number};

export const noTrouble: Trouble = {drop: 0, repeat: 0, delay: 0, delayMs: 0};

export type FarSystem = Seen & {
	readonly bus: Bus;
	readonly system: ActorSystem;
	readonly log: string[];
	/** What it sent to others. */
	readonly sent: {readonly to: string; readonly envelope: Envelope}[];
	readonly tell: (path: string, message: Message) => void;
	/** Tells a puppet what to do and lets everything run. */
	readonly act: (path: string, play: Play) => void;
	/** As SIGKILL would: nothing is said. */
	readonly kill: () => void;
};

export type FarWorld = {
	trouble: Trouble;
	readonly clock: ManualClock;
	/** Names that hear nobody and are heard by nobody. */
	readonly cut: Set<string>;
	/** A system of that name, or its next incarnation. */
	readonly join: (name: string, first?: Play, over?: Partial<BusOptions>) => FarSystem;
	readonly run: (ms?: number) => void;
	readonly random: () => number;
};

export function farWorld(seed = 1): FarWorld {
	const random = seededRandom(seed);
	const clock = new ManualClock();
	const sequencer = createSequencer(random);
	const listeners = new Map<string, (from: string, packet: Packet) => void>();
	const chance = (share: number): boolean => share > 0 && random.next() < share;
	let boots = 0;

	const world: FarWorld = {
		trouble: noTrouble,
		clock,
		cut: new Set(),
		random: random.next,
		join(name, first = {}, over = {}) {
			const log: string[] = [];
			const sent: FarSystem['sent'] = [];
			const {observer, onEscalation: _none, ...seen} = observing();
			const bus = new Bus({
				boot: `${name}-${++boots}`,
				clock,
				links: {control: linkOf(name)},
				accepts: () => true,
				measure: false,
				...over,
			});
			const system = new ActorSystem({
				name,
				executor: sequencer,
				clock,
				random,
				behaviors: {puppet: puppet(line => log.push(line))},
				remote(to, path, envelope) {
					sent.push({to: path, envelope});
					bus.send(to, path, envelope);
				},
				...(observer === undefined ? {} : {observer}),
			});
			bus.join(system);
			system.start('puppet', first);
			world.run(0);
			const tell = (path: string, message: Message): void => system.tell(address(name, path), message, 'test');
			return {
				...seen,
				bus,
				system,
				log,
				sent,
				tell,
				act(path, play) {
					tell(path, {type: 'act', play} as Message);
					world.run(0);
				},
				kill() {
					system.close();
					void bus.close();
				},
			};
		},
		run(ms = 1_000) {
			const untilMs = clock.nowMs() + ms;
			for (;;) {
				if (sequencer.runOne()) continue;
				const atMs = clock.nextAtMs();
				if (atMs === undefined || atMs > untilMs || !clock.fireNext()) break;
			}
			clock.advance(untilMs - clock.nowMs());
		},
	};

	function linkOf(name: string): Link {
		let isOpen = true;
		const deliver = (to: string, packet: Packet): void => {
			const arrive = (): void => {
				if (!world.cut.has(name) && !world.cut.has(to)) listeners.get(to)?.(name, packet);
			};
			const {delay, delayMs} = world.trouble;
			if (chance(delay)) clock.after(random.next() * delayMs, arrive);
			// In order, as a connection would: the sequencer would mix them.
			else clock.after(0, arrive);
		};
		return {
			send(to, packet) {
				if (!isOpen || chance(world.trouble.drop)) return;
				deliver(to, packet);
				if (chance(world.trouble.repeat)) deliver(to, packet);
			},
			onPacket: listener => void listeners.set(name, (from, packet) => (isOpen ? listener(from, packet) : undefined)),
			close() {
				isOpen = false;
				return Promise.resolve();
			},
		};
	}

	return world;
}
