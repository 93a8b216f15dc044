// One end of the stream between two systems: in order, without loss or repetition, over a link that promises neither.
//
// Bodies are numbered from 1 per pair of boots and acknowledged cumulatively, on the back of other packets or within 50 ms.
// Nothing is sent before the peer's boot is known, so no body can ever be taken by two incarnations of a peer. A packet of an
// unknown boot proves nothing, since it may be late and its sender dead: the peer is asked, and only the echo of that very
// question makes a boot the peer's. A peer that comes back as another boot has forgotten everything: what it had not
// acknowledged is handed back to the owner.
//
// What arrives early waits for what is missing, as much of it as a window has; the rest is dropped and comes again. So a peer
// that invents numbers makes this end hold no more than an honest one does.

import {limits} from '../../api/limits.js';
import type {Json} from '../../api/object.js';
import type {Cancel, Clock} from '../time/clock.js';
import type {Packet} from './link.js';
import {exponentialBackoffMs} from '../kernel/restart-policy.js';

export type StreamOptions = {
	readonly boot: string;
	readonly clock: Clock;
	readonly send: (packet: Packet) => void;
	readonly deliver: (body: Json) => void;
	/** The size of a body that arrives early, where it takes memory of its own. */
	readonly bytesOf?: (body: Json) => number;
	/** The peer restarted: these bodies were not acknowledged by its old boot, oldest first. */
	readonly onPeerRestart: (unacknowledged: readonly Json[]) => void;
	/** Something was sent again and again, and the peer did not take it. Called once, until something is taken or the way is open again. */
	readonly onLate?: () => void;
	/** Something waits for the peer, and nothing was heard of it for `streamSilentMs`: this stream is of no use any more. */
	readonly onSilent?: () => void;
};

/** After 250, 500 and 1000 ms. */
const resendsUntilLate = 3;

type Unacknowledged = {readonly sequence: number; readonly body: Json; readonly bytes: number};

export class Stream {
	readonly #options: StreamOptions;
	#peerBoot: string | undefined;
	/** The open question to the peer, and how many were asked. */
	#probe: string | undefined;
	#probes = 0;
	#nextSequence = 1;
	#unacknowledged: Unacknowledged[] = [];
	#bytes = 0;
	#expected = 1;
	readonly #early = new Map<number, {readonly body: Json; readonly bytes: number}>();
	#earlyBytes = 0;
	#ackTimer: Cancel | undefined;
	#resendTimer: Cancel | undefined;
	#resends = 0;
	#heardAtMs: number;

	constructor(options: StreamOptions) {
		this.#options = options;
		this.#heardAtMs = options.clock.monotonicMs();
	}

	get peerBoot(): string | undefined {
		return this.#peerBoot;
	}

	/** Messages that wait for their acknowledgement. */
	get outstanding(): number {
		return this.#unacknowledged.length;
	}

	/** Bodies that arrived before one that is missing, and their bytes. */
	get early(): {readonly bodies: number; readonly bytes: number} {
		return {bodies: this.#early.size, bytes: this.#earlyBytes};
	}

	/** Takes several bodies over, or none of them; see `offer`. */
	offerAll(bodies: readonly {readonly body: Json; readonly bytes: number}[]): boolean {
		const bytes = bodies.reduce((sum, each) => sum + each.bytes, 0);
		const count = this.#unacknowledged.length;
		if (count + bodies.length > limits.streamWindowMessages || (count > 0 && this.#bytes + bytes > limits.streamWindowBytes)) return false;
		return bodies.every(each => this.offer(each.body, each.bytes));
	}

	/** Takes a body over; false when the window is full. `bytes` is its size as far as the sender knows. */
	offer(body: Json, bytes: number): boolean {
		const count = this.#unacknowledged.length;
		if (count >= limits.streamWindowMessages) return false;
		if (count > 0 && this.#bytes + bytes > limits.streamWindowBytes) return false;
		const entry = {sequence: this.#nextSequence++, body, bytes};
		this.#unacknowledged.push(entry);
		this.#bytes += bytes;
		if (this.#peerBoot === undefined) {
			if (count === 0) this.#ask();
		} else {
			this.#sendEntry(entry);
		}
		this.#armResend();
		return true;
	}

	receive(packet: Packet): void {
		this.#heardAtMs = this.#options.clock.monotonicMs();
		const isMet = packet.boot !== this.#peerBoot && packet.echo !== undefined && packet.echo === this.#probe;
		const known = this.#peerBoot;
		if (isMet) {
			this.#peerBoot = packet.boot;
			this.#probe = undefined;
			this.#expected = 1;
			this.#early.clear();
			this.#earlyBytes = 0;
		}
		const isKnown = packet.boot === this.#peerBoot;
		if (packet.probe !== undefined)
			this.#transmit({...this.#head(), sequence: 0, echo: packet.probe, ...(isKnown ? {} : {probe: this.#question()})});
		else if (!isKnown) this.#ask();
		if (!isKnown) return;
		if (isMet) this.#meet(known);
		if (packet.peerBoot !== this.#options.boot) {
			// It does not know this incarnation yet: seeing its boot, it will ask.
			if (packet.probe === undefined) this.#sendBare();
			return;
		}
		this.#acknowledge(packet.acknowledged);
		if (packet.sequence > 0 && packet.body !== undefined) this.#take(packet.sequence, packet.body);
	}

	/** The way to the peer is open again: says who is here, and sends what waits as soon as if it had just been offered. */
	greet(): void {
		this.#resendTimer?.();
		this.#resendTimer = undefined;
		this.#resends = 0;
		this.#ask();
		this.#armResend();
	}

	close(): void {
		this.#ackTimer?.();
		this.#resendTimer?.();
		this.#ackTimer = undefined;
		this.#resendTimer = undefined;
	}

	/** The peer answered as another than before: it is sent what waits, or what the former took to its grave is handed back. */
	#meet(former: string | undefined): void {
		if (former === undefined) {
			for (const entry of this.#unacknowledged) this.#sendEntry(entry);
			return;
		}
		const lost = this.#unacknowledged.map(({body}) => body);
		this.#unacknowledged = [];
		this.#bytes = 0;
		this.#nextSequence = 1;
		this.#armResend();
		this.#options.onPeerRestart(lost);
	}

	#question(): string {
		this.#probe ??= `${this.#options.boot}.${++this.#probes}`;
		return this.#probe;
	}

	#ask(): void {
		this.#transmit({...this.#head(), sequence: 0, probe: this.#question()});
	}

	#acknowledge(upTo: number): void {
		let progress = false;
		for (let first = this.#unacknowledged[0]; first !== undefined && first.sequence <= upTo; first = this.#unacknowledged[0]) {
			this.#unacknowledged.shift();
			this.#bytes -= first.bytes;
			progress = true;
		}
		if (!progress) return;
		this.#resends = 0;
		this.#resendTimer?.();
		this.#resendTimer = undefined;
		this.#armResend();
	}

	#take(sequence: number, body: Json): void {
		if (sequence < this.#expected) {
			this.#sendBare(); // Repeated: the acknowledgement was lost.
			return;
		}
		if (sequence > this.#expected) return this.#keepEarly(sequence, body);
		this.#ackSoon();
		this.#deliver(body);
		for (let next = this.#early.get(this.#expected); next !== undefined; next = this.#early.get(this.#expected)) {
			this.#early.delete(this.#expected);
			this.#earlyBytes -= next.bytes;
			this.#deliver(next.body);
		}
	}

	#deliver(body: Json): void {
		this.#expected++;
		this.#options.deliver(body);
	}

	#keepEarly(sequence: number, body: Json): void {
		if (sequence >= this.#expected + limits.streamWindowMessages || this.#early.has(sequence)) return;
		const bytes = this.#options.bytesOf?.(body) ?? 0;
		if (this.#earlyBytes + bytes > limits.streamWindowBytes) return;
		this.#early.set(sequence, {body, bytes});
		this.#earlyBytes += bytes;
		this.#ackSoon();
	}

	#ackSoon(): void {
		this.#ackTimer ??= this.#options.clock.after(limits.streamAckMs, () => {
			this.#ackTimer = undefined;
			this.#sendBare();
		});
	}

	#sendBare(): void {
		this.#transmit({...this.#head(), sequence: 0});
	}

	#sendEntry({sequence, body}: Unacknowledged): void {
		this.#transmit({...this.#head(), sequence, body});
	}

	#head(): Omit<Packet, 'sequence'> {
		const head = {boot: this.#options.boot, acknowledged: this.#expected - 1};
		return this.#peerBoot === undefined ? head : {...head, peerBoot: this.#peerBoot};
	}

	#transmit(packet: Packet): void {
		this.#ackTimer?.();
		this.#ackTimer = undefined;
		this.#options.send(packet);
	}

	get #isSilent(): boolean {
		return this.#options.onSilent !== undefined && this.#options.clock.monotonicMs() - this.#heardAtMs >= limits.streamSilentMs;
	}

	#armResend(): void {
		if (this.#unacknowledged.length === 0) {
			this.#resendTimer?.();
			this.#resendTimer = undefined;
			this.#resends = 0;
			return;
		}
		// What is large may still be on its way over a slow wire: to send it again would make that slower.
		const underWayMs = this.#peerBoot === undefined ? 0 : Math.floor((this.#bytes * 1_000) / limits.streamSlowBytesPerSecond);
		const delayMs = exponentialBackoffMs(this.#resends + 1, limits.streamResendMs, limits.streamResendMaxMs) + underWayMs;
		this.#resendTimer ??= this.#options.clock.after(delayMs, () => {
			this.#resendTimer = undefined;
			if (this.#isSilent) return this.#options.onSilent?.();
			this.#resends++;
			if (this.#resends === resendsUntilLate) this.#options.onLate?.();
			if (this.#peerBoot === undefined) this.#ask();
			else for (const entry of this.#unacknowledged.slice(0, limits.streamResendPackets)) this.#sendEntry(entry);
			this.#armResend();
		});
	}
}
