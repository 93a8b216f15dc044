// What `troupe up` is asked for by programs of tests that are it, and something else besides.

import type {UpOptions} from '../../cli/serving/serving-options.js';

const anyPort = {host: '127.0.0.1', port: 0};

/** With the process runtime, everything of this host's own, and `gpus` in place of its GPUs. */
export const upOptions = (home: string, gpus: UpOptions['gpus']): UpOptions => ({
	home,
	api: anyPort,
	web: anyPort,
	mqtt: anyPort,
	advertise: undefined,
	broker: undefined,
	runtime: 'process',
	docker: undefined,
	dockerProblem: undefined,
	allowPrivileged: false,
	warmSandboxes: undefined,
	router: undefined,
	routerTls: undefined,
	dns: undefined,
	nodePorts: undefined,
	podNetwork: {kind: 'shared', overlay: 'vxlan', nodeAddress: undefined},
	isNew: false,
	faults: false,
	store: 'level',
	node: 'vm',
	simulatedNodes: 0,
	podUsers: undefined,
	maxProcesses: undefined,
	thresholds: {},
	volumes: undefined,
	gpus,
	hostPaths: [],
	grace: undefined,
	detach: false,
});
