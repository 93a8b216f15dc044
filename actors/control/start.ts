// The control system, wired: its design, its bus, its door. The composition root hands in everything that touches the world.

import type {Outcome} from '../../api/errors.js';
import {controlSystem} from '../../api/keys.js';
import {Bus, type Measure} from '../../system/bus.js';
import {openDurableSystem, type DurableSystem, type DurableSystemOptions} from '../../system/durable-system.js';
import type {Links} from '../../system/link.js';
import {linksInOffice} from '../../system/mandate.js';
import {acceptsFromNode, boundedFromNode, idempotentMessages} from '../doors.js';
import {laneOf} from '../lanes.js';
import {controlDesign} from './design.js';
import type {ControlRootInput} from './root.js';

export type ControlOptions = Omit<DurableSystemOptions, 'name' | 'design' | 'inputOf' | 'remote'> & {
	readonly links: Links;
	readonly boot: string;
	/** Of this program; nodes show it. */
	readonly version: string;
	/** Nodes that live in this process: they are alive as long as it is. */
	readonly localNodes?: readonly string[];
	/** Whether the link serialises: then sizes are measured for the windows. */
	readonly measure: Measure;
	/** Changes to the design, for tests that plant a bug. */
	readonly design?: typeof controlDesign;
};

export type Control = DurableSystem & {readonly bus: Bus};

/** Loads everything; the tree begins with `begin`. */
export function openControl(options: ControlOptions, done: (outcome: Outcome<Control>) => void): void {
	const {boot, version, localNodes = [], clock, measure, design = controlDesign, ...rest} = options;
	const links = options.inOffice === undefined ? options.links : linksInOffice(options.links, options.inOffice);
	const bus = new Bus({
		boot,
		clock,
		links,
		laneOf,
		measure,
		accepts: acceptsFromNode,
		bounded: boundedFromNode,
		idempotent: idempotentMessages,
	});
	openDurableSystem(
		{
			...rest,
			clock,
			name: controlSystem,
			design,
			inputOf: ({epoch, lineage}): ControlRootInput => ({epoch, lineage, version, localNodes}),
			remote: (system, to, envelope) => bus.send(system, to, envelope),
		},
		outcome => {
			if (!outcome.ok) {
				done(outcome);
				return;
			}
			const durable = outcome.value;
			bus.join(durable.system);
			const kill = (): void => {
				durable.kill();
				void bus.close();
			};
			done({ok: true, value: {...durable, bus, kill}});
		},
	);
}
