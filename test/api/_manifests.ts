// A manifest of each kind that is kept only, and of the older dialects, as people write them.

import type {JsonObject} from '../../api/object.js';

const template = {metadata: {labels: {app: 'web'}}, spec: {containers: [{name: 'main', image: 'node:20', command: ['node']}]}};

/** By kind; in the canonical form. */
export const manifests = {
	Deployment: {
		apiVersion: 'apps/v1',
		kind: 'Deployment',
		metadata: {name: 'web'},
		spec: {replicas: 2, selector: {matchLabels: {app: 'web'}}, template},
	},
	Service: {
		apiVersion: 'v1',
		kind: 'Service',
		metadata: {name: 'web'},
		spec: {selector: {app: 'web'}, ports: [{port: 80, targetPort: 8080}]},
	},
	EndpointSlice: {
		apiVersion: 'discovery.k8s.io/v1',
		kind: 'EndpointSlice',
		metadata: {name: 'web-1'},
		addressType: 'IPv4',
		endpoints: [{addresses: ['127.0.0.9'], conditions: {ready: true}}],
		ports: [{port: 8080, protocol: 'TCP'}],
	},
	HorizontalPodAutoscaler: {
		apiVersion: 'autoscaling/v2',
		kind: 'HorizontalPodAutoscaler',
		metadata: {name: 'web'},
		spec: {
			scaleTargetRef: {apiVersion: 'apps/v1', kind: 'Deployment', name: 'web'},
			minReplicas: 1,
			maxReplicas: 5,
			metrics: [{type: 'Resource', resource: {name: 'cpu', target: {type: 'Utilization', averageUtilization: 50}}}],
		},
	},
	Function: {
		apiVersion: 'troupe.dev/v1',
		kind: 'Function',
		metadata: {name: 'add'},
		spec: {userUploadFilePath: '/srv/add', runtime: 'python'},
	},
	Workflow: {
		apiVersion: 'troupe.dev/v1',
		kind: 'Workflow',
		metadata: {name: 'flow'},
		spec: {
			definition: {
				StartAt: 'First',
				States: {
					First: {Type: 'Task', Resource: 'default/add', ResultPath: null, Next: 'Judge'},
					Judge: {Type: 'Choice', Choices: [{Variable: '$.x', NumericGreaterThan: 3, Next: 'Last'}], Default: 'First'},
					Last: {Type: 'Succeed'},
				},
			},
			params: {x: 1, y: null},
			ttlSecondsAfterFinished: 60,
		},
	},
	Run: {
		apiVersion: 'troupe.dev/v1',
		kind: 'Run',
		metadata: {name: 'flow-1'},
		spec: {workflow: 'flow', input: {x: 1, y: null}},
	},
	Dns: {
		apiVersion: 'troupe.dev/v1',
		kind: 'Dns',
		metadata: {name: 'site'},
		spec: {host: 'test.com', paths: [{subPath: '/api', svcName: 'web', svcPort: 80}]},
	},
	SlurmJob: {
		apiVersion: 'troupe.dev/v1',
		kind: 'SlurmJob',
		metadata: {name: 'cuda'},
		spec: {partition: 'dgx2', gpuNums: 1, runCommands: ['./a'], secretName: 'login'},
	},
} as const satisfies {readonly [kind: string]: JsonObject};

/** Documents of dialects A and B. */
export const older = {
	service: {
		apiVersion: 'v1',
		kind: 'Service',
		metadata: {name: 'web'},
		spec: {selector: {app: 'web'}, ports: [{name: 'http', port: '88', targetPort: '80', protocol: 'tcp'}]},
	},
	dns: {
		apiVersion: 'v1',
		kind: 'Dns',
		metadata: {name: 'site'},
		spec: {host: 'test.com', paths: [{subPath: '/api/v2', svcName: 'service-example', svcPort: '88'}]},
	},
	hpaA: {
		apiVersion: 'v1',
		kind: 'Hpa',
		metadata: {name: 'hpa'},
		spec: {
			minReplicas: 2,
			maxReplicas: 5,
			workload: {kind: 'Replicaset', metadata: {name: 'test-rs', namespace: 'test-namespace'}},
			adjustInterval: '30s',
			selector: {matchLabels: {app: 'hpa'}},
			metrics: {cpuPercent: 0.35, memPercent: 0.5},
		},
	},
	hpaB: {
		apiVersion: 'autoscaling/v1',
		kind: 'HorizontalPodAutoscaler',
		metadata: {name: 'hpa', namespace: 'default'},
		spec: {
			minReplicas: 1,
			maxReplicas: 4,
			scaleTargetRef: {apiVersion: 'v1', kind: 'ReplicaSet', metadata: {name: 'rs', namespace: 'default'}},
			scaleInterval: 10,
			metrics: {CPUUtilizationPercentage: 25},
		},
	},
	hpaV1: {
		apiVersion: 'autoscaling/v1',
		kind: 'HorizontalPodAutoscaler',
		metadata: {name: 'hpa'},
		spec: {maxReplicas: 4, scaleTargetRef: {apiVersion: 'apps/v1', kind: 'Deployment', name: 'web'}, targetCPUUtilizationPercentage: 60},
	},
	job: {
		apiVersion: 'v1',
		kind: 'Job',
		metadata: {name: 'cuda'},
		spec: {
			partition: 'dgx2',
			nTasks: 1,
			nTasksPerNode: '6',
			gpuNums: 1,
			submitDirectory: '.',
			submitHost: '',
			compileCommands: ['module load cuda'],
			runCommands: ['nvcc a.cu -o a', './a'],
			outputFile: 'job.out',
			errorFile: 'job.err',
			username: 'u',
		},
	},
	function: {apiVersion: 'v1', kind: 'Function', metadata: {name: 'add'}, spec: {userUploadFilePath: '/xx/example-1'}},
	workflowA: {
		apiVersion: 'v1',
		kind: 'Workflow',
		metadata: {name: 'flow'},
		spec: {
			entryParams: '{"x": 1, "y": 2}',
			entryNodeName: 'node1',
			workflowNodes: [
				{name: 'node1', type: 'func', funcData: {funcName: 'f', funcNamespace: 'default', nextNodeName: 'node2'}},
				{
					name: 'node2',
					type: 'choice',
					choiceData: {
						trueNextNodeName: 'node3',
						falseNextNodeName: 'node4',
						checkType: 'numGreaterThen',
						checkVarName: 'y',
						compareValue: '0',
					},
				},
				{name: 'node3', type: 'func', funcData: {funcName: 'g'}},
				{name: 'node4', type: 'func', funcData: {funcName: 'h'}},
			],
		},
	},
	workflowB: {
		apiVersion: '/api/v1',
		kind: 'Workflow',
		metadata: {namespace: 'default', name: 'print'},
		startAt: 'addFive',
		params: {x: 5},
		nodes: {
			addFive: {type: 'Task', next: 'judge'},
			judge: {
				type: 'Choice',
				choices: [
					{variable: 'x', numericEquals: 10, next: 'a'},
					{variable: 'x', numericNotEquals: 10, next: 'b'},
				],
			},
			a: {type: 'Task'},
			b: {type: 'Task'},
		},
	},
} as const satisfies {readonly [name: string]: JsonObject};
