// The control system, wired: its design, its bus, its door. The composition root hands in everything that touches the world.

import type {Outcome} from '../../api/errors.js';
import {controlSystem} from '../../api/keys.js';
import {Bus} from '../../system/bus.js';
import {openDurableSystem, type DurableSystem, type DurableSystemOptions} from '../../system/durable-system.js';
import type {Link} from '../../system/link.js';
import {acceptsFromNode, idempotentMessages} from '../doors.js';
import {controlDesign} from './design.js';
import type {ControlRootInput} from './root.js';

export type ControlOptions = Omit<DurableSystemOptions, 'name' | 'design' | 'inputOf' | 'remote'> & {
	readonly link: Link;
	readonly boot: string;
	/** Of this program; nodes show it. */
	readonly version: string;
	/** Whether the link serialises: then sizes are measured for the windows. */
	readonly measure: boolean;
	/** Changes to the design, for tests that plant a bug. */
	readonly design?: typeof controlDesign;
};

export type Control = DurableSystem & {readonly bus: Bus};

/** Loads everything; the tree begins with `begin`. */
export function openControl(options: ControlOptions, done: (outcome: Outcome<Control>) => void): void {
	const {link, boot, version, clock, measure, design = controlDesign, ...rest} = options;
	const bus = new Bus({boot, clock, link, measure, accepts: acceptsFromNode, idempotent: idempotentMessages});
	openDurableSystem(
		{
			...rest,
			clock,
			name: controlSystem,
			design,
			inputOf: ({epoch, lineage}): ControlRootInput => ({epoch, lineage, version}),
			remote: (system, to, envelope) => bus.send(system, to, envelope),
		},
		outcome => {
			if (!outcome.ok) {
				done(outcome);
				return;
			}
			bus.join(outcome.value.system);
			done({ok: true, value: {...outcome.value, bus}});
		},
	);
}
