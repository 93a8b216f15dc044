// Several probes of one system, such as traces and faults: the kernel knows one, which passes on to them, or none while there are none.

import type {Kernel} from '../kernel/kernel.js';
import type {Span} from '../kernel/mailbox.js';
import type {Probe} from '../kernel/probe.js';
import type {Cancel} from '../time/clock.js';

/** `first` looks; `last` may change what becomes of a step, and so comes after all that look. */
export type ProbePlace = 'first' | 'last';

const probesOf = new WeakMap<Kernel, Map<Probe, ProbePlace>>();

/** Has the probe see deliveries and steps until it is taken away again. */
export function addProbe(kernel: Kernel, probe: Probe, place: ProbePlace = 'first'): Cancel {
	const probes = probesOf.get(kernel) ?? new Map<Probe, ProbePlace>();
	probesOf.set(kernel, probes);
	probes.set(probe, place);
	kernel.probe = together(probes);
	return () => {
		probes.delete(probe);
		kernel.probe = together(probes);
	};
}

function together(places: ReadonlyMap<Probe, ProbePlace>): Probe | undefined {
	const inPlace = (place: ProbePlace): Probe[] => [...places].filter(([, each]) => each === place).map(([probe]) => probe);
	const probes = [...inPlace('first'), ...inPlace('last')];
	if (probes.length <= 1) return probes[0];
	return {
		arrives(cell, envelope) {
			let arrived: typeof envelope | undefined = envelope;
			for (const probe of probes) if (arrived !== undefined) arrived = probe.arrives(cell, arrived);
			return arrived;
		},
		begins: (cell, trigger, call) => probes.reduce((seen, probe) => probe.begins(cell, seen, call), trigger),
		happens(...what) {
			let span: Span | undefined;
			for (const probe of probes) span = probe.happens(...what) ?? span;
			return span;
		},
		refused(...letter) {
			for (const probe of probes) probe.refused(...letter);
		},
	};
}
