// A pod's sandbox as runtimes are asked for it.

import type {SandboxSpec} from '../../actors/node/runtime/runtime-port.js';

export const aSandbox = (uid: string, overrides: Partial<SandboxSpec> = {}): SandboxSpec => {
	const {name = `pod-${uid}`} = overrides;
	return {
		uid,
		namespace: 'default',
		name,
		hostname: uid,
		controller: `default/Pod/${name}`,
		runtimeClass: 'process',
		shareProcessNamespace: false,
		hostNetwork: false,
		hostPID: false,
		hostIPC: false,
		hostAliases: [],
		hostPorts: [],
		...overrides,
	};
};
