// An agent in a process of its own, to be killed: starts the containers of its second argument, says so, and lives on.

import {createProcessRuntime} from '../../agent/process-runtime.js';
import {closeInheritedDescriptors} from '../../agent/os/descriptors.js';
import type {ContainerSpec} from '../../actors/node/runtime/runtime-port.js';
import {systemClock} from '../../system/time/clock.js';
import {aSandbox} from './_sandbox.js';

closeInheritedDescriptors();
const [directory = '', specs = '[]'] = process.argv.slice(2);
const runtime = createProcessRuntime({directory, clock: systemClock, path: process.env['PATH'], stockFolders: 2});

/** One after the other, so that the answers come in the order of the specs. */
function startNext([spec, ...rest]: readonly ContainerSpec[]): void {
	if (spec === undefined) return;
	const {uid} = spec.id;
	runtime.run(
		{
			type: 'sandbox.ensure',
			spec: aSandbox(uid, {namespace: spec.namespace, name: spec.podName}),
		},
		() =>
			runtime.run({type: 'container.start', spec}, outcome => {
				process.stdout.write(`${JSON.stringify(outcome)}\n`);
				startNext(rest);
			}),
	);
}

startNext(JSON.parse(specs) as ContainerSpec[]);
