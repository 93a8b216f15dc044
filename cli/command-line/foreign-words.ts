// Words that people bring along from other tools, and what to type here instead.

/** By command: what does the same, or nearly. */
export const foreignCommands: {readonly [word: string]: string} = {
	'api-resources': 'troupe explain',
	'cluster-info': 'troupe version',
	inspect: 'troupe describe of an object, troupe repl of its actor',
	join: 'troupe agent --join',
	kill: 'troupe delete pod NAME --now',
	list: 'troupe get',
	ls: 'troupe get',
	ps: 'troupe get pods',
	remove: 'troupe delete',
	restart:
		'troupe rollout restart deployment/NAME; troupe retry POD for what waits to be tried again; else troupe delete pod NAME, and what made it makes another',
	rm: 'troupe delete',
	run: 'troupe apply -f FILE',
	start: 'troupe up',
	status: 'troupe get all, or troupe tree',
	stop: 'troupe down for the cluster, troupe delete for an object',
	top: 'troupe actor top, of actors; of pods figures of processor and memory in use come with a later version',
};

/** By flag, dashes included: why it is not there, and what is. */
export const foreignFlags: {readonly [word: string]: string} = {
	'-k': 'kustomizations are not read; what kustomize builds can be piped into -f -',
	'--kustomize': 'kustomizations are not read; what kustomize builds can be piped into -f -',
	'--prune': 'troupe delete -f FILE removes what a file names',
	'--server-side': 'apply compares with what was applied last, and the server checks everything before anything is written',
	'--context': 'one kubeconfig is one cluster; --kubeconfig names another file',
	'--show-labels': 'troupe describe shows labels, and -o yaml',
	'-L': 'troupe describe shows labels, and -o yaml',
	'--label-columns': 'troupe describe shows labels, and -o yaml',
	'--validate': 'everything is always checked before anything is written',
};

/** Forms of output that kubectl has. */
export const foreignForms = ['jsonpath', 'custom-columns', 'go-template', 'template'];
