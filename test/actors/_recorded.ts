// Every step of a system, recorded as the inspector records it.

import {isSecretMember} from '../../actors/secret-members.js';
import {addProbe} from '../../system/inspect/probes.js';
import {Recorder, type Recording} from '../../system/inspect/recorder.js';
import type {StepRecord} from '../../system/inspect/step-record.js';
import type {ActorSystem} from '../../system/kernel/actor-system.js';

/** Records every step of a system, by what the kernel tells a probe. */
export function record({kernel}: ActorSystem): readonly StepRecord[] {
	const recorder = new Recorder(isSecretMember);
	const records: StepRecord[] = [];
	addProbe(kernel, {
		arrives: (_cell, envelope) => envelope,
		happens: () => undefined,
		refused: () => undefined,
		begins({address, spec, state}, trigger, call) {
			let recording: Recording | undefined;
			const seen = {
				span: undefined,
				context(context: Recording['context']) {
					recording = recorder.begin({address, behavior: spec.behavior, from: trigger.from, state, call}, context);
					return recording.context;
				},
				ran(next: Parameters<Recording['done']>[0]) {
					if (recording !== undefined) records.push(recording.done(next));
				},
				real: () => undefined,
				notCommitted: () => undefined,
				notUnderstood: () => undefined,
				crashed: () => undefined,
			};
			return {...trigger, seen};
		},
	});
	return records;
}
