// What sets and the scheduler have asked for and what is not committed yet. An actor that crashes forgets it and may rightly ask again:
// for exactly that, and nothing else, two binds may take one place, and a set may get a pod too many.

import {isReply, type Effect, type Message} from '../../system/kernel/behavior.js';
import type {Spy} from './spies.js';

type Bind = {readonly uid: string; readonly node: string};

export class OpenWrites {
	/** By address of the set, the ids of what it asked for. */
	readonly #creates = new Map<string, Set<string>>();
	readonly #binds = new Map<string, Bind>();
	readonly #forgottenCreates = new Map<string, number>();
	readonly #forgottenBinds = new Map<string, Set<string>>();

	readonly ofSets: Spy = {
		began: self => {
			const forgotten = this.#creates.get(self)?.size ?? 0;
			this.#creates.delete(self);
			if (forgotten > 0) this.#forgottenCreates.set(self, this.forgottenBy(self) + forgotten);
		},
		told: (self, message) => void (isReply(message) && this.#creates.get(self)?.delete(message.id)),
		asked: (self, effect) => {
			if (effect.type !== 'create') return;
			const open = this.#creates.get(self) ?? new Set();
			this.#creates.set(self, open.add(effect.id));
		},
	};

	/** `onBind` is told of each bind as it is asked for. */
	ofScheduler(onBind: (bind: Bind) => void): Spy {
		return {
			began: () => {
				for (const {uid, node} of this.#binds.values())
					this.#forgottenBinds.set(node, (this.#forgottenBinds.get(node) ?? new Set<string>()).add(uid));
				this.#binds.clear();
			},
			told: (_self, message) => void (isReply(message) && this.#binds.delete(message.id)),
			asked: (_self, effect) => {
				const bind = bindOf(effect);
				if (bind === undefined) return;
				this.#binds.set(bind.id, bind);
				onBind(bind);
			},
		};
	}

	/** Another process: what the one before had under way never comes. */
	reset(): void {
		this.#creates.clear();
		this.#binds.clear();
	}

	/** How many pods a set has asked for and forgotten. */
	forgottenBy(set: string): number {
		return this.#forgottenCreates.get(set) ?? 0;
	}

	/** Pods whose bind to a node is or was under way, and forgotten. */
	forgottenOn(node: string): ReadonlySet<string> {
		return this.#forgottenBinds.get(node) ?? new Set();
	}
}

function bindOf(effect: Effect): (Bind & {readonly id: string}) | undefined {
	if (effect.type !== 'update' || effect.message.type !== 'bind') return undefined;
	const {uid, nodeName} = effect.message as Message & {readonly uid: string; readonly nodeName: string};
	return {uid, node: nodeName, id: effect.id};
}
