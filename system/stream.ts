// One end of the stream between two systems: in order, without loss or repetition, over a link that promises neither.
//
// Bodies are numbered from 1 per pair of boots and acknowledged cumulatively, on the back of other packets or within 50 ms.
// Nothing is sent before the peer's boot is known, so no body can ever be taken by two incarnations of a peer. A packet of an
// unknown boot proves nothing, since it may be late and its sender dead: the peer is asked, and only the echo of that very
// question makes a boot the peer's. A peer that comes back as another boot has forgotten everything: what it had not
// acknowledged is handed back to the owner.

import {limits} from '../api/limits.js';
import type {Json} from '../api/object.js';
import type {Cancel, Clock} from './clock.js';
import type {Packet} from './link.js';
import {exponentialBackoffMs} from './supervision.js';

export type StreamOptions = {
	readonly boot: string;
	readonly clock: Clock;
	readonly send: (packet: Packet) => void;
	readonly deliver: (body: Json) => void;
	/** The peer restarted: these bodies were not acknowledged by its old boot, oldest first. */
	readonly onPeerRestart: (unacknowledged: readonly Json[]) => void;
};

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
	readonly #early = new Map<number, Json>();
	#ackTimer: Cancel | undefined;
	#resendTimer: Cancel | undefined;
	#resends = 0;

	constructor(options: StreamOptions) {
		this.#options = options;
	}

	get peerBoot(): string | undefined {
		return this.#peerBoot;
	}

	/** Messages that wait for their acknowledgement. */
	get outstanding(): number {
		return this.#unacknowledged.length;
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
		const isMet = packet.boot !== this.#peerBoot && packet.echo !== undefined && packet.echo === this.#probe;
		const known = this.#peerBoot;
		if (isMet) {
			this.#peerBoot = packet.boot;
			this.#probe = undefined;
			this.#expected = 1;
			this.#early.clear();
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

	/** Says who is here, so that the peer can begin. */
	greet(): void {
		this.#ask();
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
		if (sequence >= this.#expected + limits.streamWindowMessages) return;
		this.#early.set(sequence, body);
		this.#ackSoon();
		for (let next = this.#early.get(this.#expected); next !== undefined; next = this.#early.get(this.#expected)) {
			this.#early.delete(this.#expected);
			this.#expected++;
			this.#options.deliver(next);
		}
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

	#armResend(): void {
		if (this.#unacknowledged.length === 0) {
			this.#resendTimer?.();
			this.#resendTimer = undefined;
			this.#resends = 0;
			return;
		}
		const delayMs = exponentialBackoffMs(this.#resends + 1, limits.streamResendMs, limits.streamResendMaxMs);
		this.#resendTimer ??= this.#options.clock.after(delayMs, () => {
			this.#resendTimer = undefined;
			this.#resends++;
			if (this.#peerBoot === undefined) this.#ask();
			else for (const entry of this.#unacknowledged.slice(0, limits.streamResendPackets)) this.#sendEntry(entry);
			this.#armResend();
		});
	}
}
