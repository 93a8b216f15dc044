// Commands for nodes, and for looking at the actors.

import type {CommandSpec, FlagSpecs} from '../command.js';
import {clusterFlags, documentFlag, selectorFlag} from '../command-line/flags.js';

const dryRunFlag: FlagSpecs = {'dry-run': {type: 'boolean', about: 'ask the server what it would do, change nothing'}};
const cordonFlags: FlagSpecs = {...clusterFlags, ...selectorFlag, ...dryRunFlag};

/** Of `actor run`. */
const runFlags: FlagSpecs = {
	name: {type: 'string', value: 'NAME', about: 'run: what the system is called, before its login (what the file is called)'},
	input: {type: 'string', value: 'JSON', about: "run: what the first actor's init is given (null)"},
	tell: {type: 'string', multiple: true, value: 'MESSAGE', about: 'run: a message for the first actor, as JSON with a type'},
	stdin: {type: 'boolean', about: 'run: each line of the input is such a message'},
};

export const nodesCommands: readonly CommandSpec[] = [
	{
		name: 'cordon',
		summary: 'let no new pods onto nodes',
		usage: ['NODE…', '-l QUERY'],
		examples: ['troupe cordon node-a', 'troupe cordon -l zone=west'],
		flags: cordonFlags,
		load: () => import('../commands/cordon.js'),
	},
	{
		name: 'uncordon',
		summary: 'let pods onto nodes again',
		usage: ['NODE…', '-l QUERY'],
		examples: ['troupe uncordon node-a'],
		flags: cordonFlags,
		load: () => import('../commands/uncordon.js'),
	},
	{
		name: 'drain',
		summary: 'cordon nodes and evict their pods, until they are gone',
		usage: ['NODE… [--force] [--delete-emptydir-data] [--ignore-daemonsets] [--timeout TIME]', '-l QUERY'],
		examples: ['troupe drain node-a', 'troupe drain node-a --dry-run', 'troupe drain node-a --force --timeout 2m'],
		flags: {
			...clusterFlags,
			...selectorFlag,
			force: {type: 'boolean', about: 'also pods that nothing makes anew'},
			'delete-emptydir-data': {type: 'boolean', about: 'also pods with an emptyDir volume; what is in it is lost'},
			'ignore-daemonsets': {type: 'boolean', about: 'leave pods of DaemonSets alone'},
			'grace-period': {type: 'number', value: 'SECONDS', about: 'time to end by itself; -1: what each pod asks for (-1)'},
			'pod-selector': {type: 'string', value: 'QUERY', about: 'only pods with these labels'},
			'disable-eviction': {type: 'boolean', about: 'delete the pods instead of evicting them'},
			timeout: {type: 'string', value: 'TIME', about: 'how long to wait at most, such as 30s or 2m (as long as it takes)'},
			...dryRunFlag,
		},
		ownSignals: true,
		load: () => import('../commands/drain.js'),
	},
	{
		name: 'taint',
		summary: 'keep pods off nodes unless they tolerate it',
		usage: ['nodes NODE… KEY=VALUE:EFFECT… [--overwrite]', 'nodes NODE… KEY:EFFECT- KEY-', 'nodes -l QUERY KEY:EFFECT'],
		examples: ['troupe taint nodes node-a gpu=yes:NoSchedule', 'troupe taint nodes node-a gpu:NoSchedule-'],
		flags: {
			...clusterFlags,
			...selectorFlag,
			all: {type: 'boolean', about: 'every node'},
			overwrite: {type: 'boolean', about: 'replace the value of a taint that is there'},
			...dryRunFlag,
		},
		load: () => import('../commands/taint.js'),
	},
	{
		name: 'node',
		summary: 'say that a silent node is lost, so that its pods are replaced',
		usage: ['confirm-lost NAME'],
		examples: ['troupe node confirm-lost node-a'],
		flags: clusterFlags,
		load: () => import('../commands/node.js'),
	},
	{
		name: 'tree',
		summary: 'draw the actors of every system, with their states',
		usage: ['[SYSTEM] [--depth N]'],
		examples: ['troupe tree', 'troupe tree control --depth 2'],
		flags: {
			...clusterFlags,
			depth: {type: 'number', value: 'N', about: 'how many levels below the root (all)'},
			...documentFlag,
		},
		load: () => import('../commands/tree.js'),
	},
	{
		name: 'actor',
		summary: 'run actors of your own beside those of the cluster',
		usage: ['run FILE [--name NAME] [--input JSON] [--tell MESSAGE…] [--stdin]'],
		examples: [
			'troupe actor run examples/actors/pong.mjs',
			`troupe actor run counter.mjs --name visits --tell '{"type": "add", "amount": 2}'`,
		],
		flags: {...clusterFlags, ...runFlags},
		ownSignals: true,
		load: () => import('../commands/actor.js'),
	},
];
