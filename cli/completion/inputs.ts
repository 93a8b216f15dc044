// What the words after each command are, for completion.

import {runtimeClasses} from '../../api/runtime-class.js';
import {schedulerStrategies} from '../../api/scheduler-strategies.js';
import {faultWords} from '../inspect/fault-words.js';
import {verbSpecs} from '../inspect/verb-specs.js';

/** What stands at the places of a command that are no flags. */
export type InputKind =
	| {readonly type: 'nothing'}
	| {readonly type: 'files'}
	/** `KIND NAME…` or `KIND/NAME…`; `scalable`: only kinds that have replicas; `more`: what may stand in the place of a kind. */
	| {readonly type: 'targets'; readonly scalable?: true; readonly more?: readonly {readonly word: string; readonly about: string}[]}
	/** Running actors: places, or objects as kubectl names them. */
	| {readonly type: 'actors'}
	/** A kind, then its fields: `pod.spec.containers`. */
	| {readonly type: 'fields'}
	/** Names of one kind; `once`: only the first place; `orKind`: or `KIND/NAME`. With an `ending` they go on: `pod:`. */
	| {readonly type: 'names'; readonly kind: string; readonly once?: true; readonly orKind?: true; readonly ending?: string}
	/** These words, then whatever `then` says. */
	| {readonly type: 'words'; readonly words: readonly string[]; readonly then?: InputKind}
	/** One of these words, then what stands behind that one. */
	| {readonly type: 'verbs'; readonly verbs: {readonly [verb: string]: InputKind}};

const nothing: InputKind = {type: 'nothing'};
const files: InputKind = {type: 'files'};
const targets: InputKind = {type: 'targets'};
const actors: InputKind = {type: 'actors'};
const onePod: InputKind = {type: 'names', kind: 'pods', once: true};
const oneFunction: InputKind = {type: 'names', kind: 'functions', once: true};
const oneWorkflow: InputKind = {type: 'names', kind: 'workflows', once: true, orKind: true};
const oneRun: InputKind = {type: 'names', kind: 'runs', once: true, orKind: true};
/** Their values by their keys. */
const settings: {readonly [key: string]: InputKind} = {
	'autoscaling.prometheusHosts': nothing,
	'nodes.grace': {type: 'words', words: ['1s', '5s', '30s']},
	'runtime.default': {type: 'words', words: runtimeClasses},
	'scheduler.strategy': {type: 'words', words: schedulerStrategies},
	'slurm.hosts': nothing,
	'workflows.httpHosts': nothing,
};
const nodes = {type: 'names', kind: 'nodes'} as const;

/** Those that stand alone. */
const inspectorVerbs = Object.fromEntries(
	verbSpecs
		.filter(({shellOnly}) => shellOnly !== true)
		.map(({name, takes}) => [name, takes === 'verbs' || takes === 'nothing' ? nothing : actors]),
);

/** By the name of the command. */
export const inputsOf: {readonly [command: string]: InputKind} = {
	up: nothing,
	server: nothing,
	agent: nothing,
	down: nothing,
	version: nothing,
	uninstall: nothing,
	events: nothing,
	apply: nothing,
	convert: nothing,
	create: nothing,
	replace: nothing,
	diff: nothing,
	backup: files,
	restore: files,
	token: {type: 'words', words: ['create', 'list', 'delete']},
	broker: {type: 'words', words: ['config'], then: files},
	config: {type: 'verbs', verbs: {get: {type: 'words', words: Object.keys(settings)}, set: {type: 'verbs', verbs: settings}}},
	completion: {type: 'words', words: ['bash', 'zsh', 'fish']},
	get: {...targets, more: [{word: 'all', about: 'pods, sets and all that serves programs'}]},
	describe: targets,
	delete: targets,
	edit: targets,
	label: targets,
	patch: targets,
	set: {type: 'verbs', verbs: {image: targets, env: targets, resources: targets}},
	annotate: targets,
	wait: targets,
	why: targets,
	scale: {type: 'targets', scalable: true},
	autoscale: targets,
	expose: targets,
	rollout: {type: 'words', words: ['status', 'history', 'undo', 'pause', 'resume', 'restart'], then: targets},
	explain: {type: 'fields'},
	logs: {type: 'names', kind: 'pods', orKind: true},
	retry: {type: 'names', kind: 'pods'},
	exec: onePod,
	'port-forward': onePod,
	net: {type: 'words', words: ['check'], then: {type: 'targets'}},
	attach: onePod,
	cp: {type: 'names', kind: 'pods', ending: ':'},
	cordon: nodes,
	uncordon: nodes,
	drain: nodes,
	taint: {type: 'words', words: ['nodes'], then: nodes},
	node: {type: 'words', words: ['confirm-lost'], then: {type: 'names', kind: 'nodes', once: true}},
	top: {type: 'verbs', verbs: {pods: onePod, nodes: {...nodes, once: true}, functions: oneFunction}},
	image: {type: 'verbs', verbs: {ls: nothing, pull: nothing, load: files}},
	execute: oneFunction,
	function: {type: 'verbs', verbs: {new: nothing, run: files}},
	workflow: {
		type: 'verbs',
		verbs: {
			...{test: files, start: oneWorkflow, list: oneWorkflow, describe: oneRun, history: oneRun, approve: oneRun, reject: oneRun},
			...{pause: oneRun, resume: oneRun, cancel: oneRun, retry: oneRun},
		},
	},
	tree: actors,
	repl: actors,
	status: nothing,
	fault: {type: 'words', words: faultWords, then: targets},
	actor: {type: 'verbs', verbs: {...inspectorVerbs, run: files}},
	help: {type: 'words', words: []},
};
