// The control system, wired: its design, its bus, what it takes from nodes. The composition root hands in everything that touches the world.

import {failure, type Outcome} from '../../api/errors.js';
import {controlSystem} from '../../api/keys.js';
import type {ClusterConfigSpec} from '../../api/kinds/clusterconfig.js';
import {parseUserSystem} from '../../api/user-system.js';
import {Bus, type Measure} from '../../system/links/bus.js';
import {openDurableSystem, type DurableSystem, type DurableSystemOptions} from '../../system/commit/durable-system.js';
import type {Links} from '../../system/links/link.js';
import {nothingPerforms, type Perform} from '../../system/kernel/performs.js';
import {linksWhile} from '../../system/leadership/mandate.js';
import {closingFirst, inspectLater, withInspect} from '../inspector.js';
import {isSecretMember} from '../secret-members.js';
import {createInspector, type Inspector} from '../../system/inspect/inspector.js';
import {acceptsFromNode, acceptsFromUserSystem, boundedFromNode, idempotentMessages} from '../protocol/accepted-messages.js';
import {syncOfNode} from '../addresses.js';
import {laneOf} from '../protocol/lanes.js';
import type {NodeRefused} from '../protocol/sync-message.js';
import {controlDesign} from './design.js';
import type {ControlRootInput} from './root.js';

export type ControlOptions = Omit<DurableSystemOptions, 'name' | 'design' | 'inputOf' | 'remote' | 'perform'> & {
	readonly links: Links;
	readonly boot: string;
	/** Of this program; nodes show it. */
	readonly version: string;
	/** Nodes that live in this process: they are alive as long as it is. */
	readonly localNodes?: readonly string[];
	/** Whether a system of that name may be a node now: it lives here, or has a node's login. The default is every one that comes. */
	readonly mayBeNode?: (name: string) => boolean;
	/** Whether a user's system of that name runs. The default is that none does. */
	readonly isUserSystem?: (name: string) => boolean;
	/** Whether the link serialises: then sizes are measured for the windows. */
	readonly measure: Measure;
	/** Carries out the tasks of runs of workflows. The default is that nothing does. */
	readonly perform?: Perform;
	/** Of a cluster that begins now. */
	readonly settings?: ClusterConfigSpec;
	/** Admins may make faults in it. */
	readonly faults?: boolean;
	/** Changes to the design, for tests that plant a bug. */
	readonly design?: typeof controlDesign;
};

export type ControlSystem = DurableSystem & {readonly bus: Bus};

/** Loads everything; the tree begins with `begin`. */
export function openControl(options: ControlOptions, done: (outcome: Outcome<ControlSystem>) => void): void {
	const {
		boot,
		version,
		localNodes = [],
		mayBeNode = () => true,
		isUserSystem = () => false,
		clock,
		measure,
		design = controlDesign,
		faults = false,
		settings,
		perform = nothingPerforms,
		...rest
	} = options;
	// It is not cut off by a fault: nodes are, each by itself.
	const faultOptions = faults ? {} : undefined;
	const links = options.mayAct === undefined ? options.links : linksWhile(options.links, options.mayAct);
	const late: {system?: DurableSystem['system']; inspector?: Inspector} = {};
	const bus = new Bus({
		boot,
		clock,
		links,
		laneOf,
		measure,
		isPeer: name => parseUserSystem(name) === undefined || isUserSystem(name),
		accepts(node, to, message) {
			if (parseUserSystem(node) !== undefined) return acceptsFromUserSystem(to, message);
			if (!acceptsFromNode(node, to, message)) return false;
			// A broker elsewhere may let a node in that was deleted here: it would come back by its hello.
			if (message.type !== 'hello' || mayBeNode(node)) return true;
			late.system?.tell(syncOfNode(node), unknownNode(node), 'hello');
			return false;
		},
		bounded: boundedFromNode,
		idempotent: idempotentMessages,
	});
	openDurableSystem(
		{
			...rest,
			clock,
			name: controlSystem,
			design,
			inputOf: ({epoch, lineage, replaces}): ControlRootInput => ({
				epoch,
				lineage,
				...(replaces === undefined ? {} : {replaces}),
				version,
				localNodes,
				...(settings === undefined ? {} : {settings}),
			}),
			perform: withInspect(inspectLater(late), perform),
			remote: (system, to, envelope) => bus.send(system, to, envelope),
		},
		outcome => {
			if (!outcome.ok) {
				done(outcome);
				return;
			}
			const opened = outcome.value;
			late.system = opened.system;
			const inspector = createInspector(opened.system, {
				isSecret: isSecretMember,
				journalOf: key => opened.journal.of(key),
				faults: faultOptions,
			});
			late.inspector = inspector;
			const durable = closingFirst(opened, inspector);
			bus.join(durable.system);
			const kill = (): void => {
				durable.kill();
				void bus.close();
			};
			done({ok: true, value: {...durable, bus, kill}});
		},
	);
}

const unknownNode = (node: string): NodeRefused => ({
	type: 'refused',
	error: failure('ERR_FORBIDDEN', {
		message: `"${node}" has no login of a node in this cluster: its Node or its token was deleted; troupe agent --token with a new join token makes it a node again`,
	}),
});
