// A node's system, wired to its runtime and its bus.

import type {Outcome} from '../../api/errors.js';
import {address} from '../../api/keys.js';
import type {Labels} from '../../api/object.js';
import type {Message} from '../../system/behavior.js';
import {Bus} from '../../system/bus.js';
import {openDurableSystem, type DurableSystem, type DurableSystemOptions} from '../../system/durable-system.js';
import type {Link} from '../../system/link.js';
import {handName, podsPath} from '../addresses.js';
import {acceptsFromControl, idempotentMessages} from '../doors.js';
import {nodeDesign} from './design.js';
import type {NodeSyncInput} from './node-sync.js';
import {performFor} from './perform.js';
import type {ContainerExit, Runtime} from './runtime-port.js';

export type NodeOptions = Omit<DurableSystemOptions, 'design' | 'inputOf' | 'remote' | 'perform'> & {
	readonly link: Link;
	readonly boot: string;
	readonly labels: Labels;
	readonly runtime: Runtime;
	readonly measure: boolean;
};

export type Node = DurableSystem & {readonly bus: Bus};

/** Loads the cache; the tree, and with it the adoption of what runs, begins with `begin`. */
export function openNode(options: NodeOptions, done: (outcome: Outcome<Node>) => void): void {
	const {link, boot, labels, runtime, clock, measure, ...rest} = options;
	const bus = new Bus({boot, clock, link, measure, accepts: acceptsFromControl, idempotent: idempotentMessages});
	openDurableSystem(
		{
			...rest,
			clock,
			design: nodeDesign,
			inputOf: (): NodeSyncInput => ({node: options.name, labels, info: runtime.info()}),
			perform: performFor(runtime),
			remote: (system, to, envelope) => bus.send(system, to, envelope),
		},
		outcome => {
			if (!outcome.ok) {
				done(outcome);
				return;
			}
			const node = outcome.value;
			bus.join(node.system);
			runtime.onExit(({namespace, podName, id}, exit) => {
				const message: Message & {exit: ContainerExit} = {type: 'exited', exit};
				const hand = `${podsPath}/${handName({namespace, name: podName})}`;
				node.system.wake(address(options.name, `${hand}/${id.container}`), message, `exit of ${id.container}`);
			});
			done({ok: true, value: {...node, bus}});
		},
	);
}
