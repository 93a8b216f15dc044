// Commands for nodes, and for looking at the actors.

import type {CommandSpec, FlagSpecs} from '../command.js';
import {clusterFlags, documentFlag, namespacedFlags, searchFlags, selectorFlag} from '../command-line/flags.js';
import {verbHelp} from '../inspect/help-view.js';
import {verbSpecs} from '../inspect/verb-specs.js';
import {findVerb, verbFlags} from '../inspect/verb-words.js';

const dryRunFlag: FlagSpecs = {'dry-run': {type: 'boolean', about: 'ask the server what it would do, change nothing'}};
const cordonFlags: FlagSpecs = {...clusterFlags, ...selectorFlag, ...dryRunFlag};

/** Of `actor run`. */
const runFlags: FlagSpecs = {
	name: {type: 'string', value: 'NAME', about: 'run: what the system is called, before its login (what the file is called)'},
	input: {type: 'string', value: 'JSON', about: "run: what the first actor's init is given (null)"},
	tell: {type: 'string', multiple: true, value: 'MESSAGE', about: 'run: a message for the first actor, as JSON with a type'},
	stdin: {type: 'boolean', about: 'run: each line of the input is such a message'},
	faults: {type: 'boolean', about: 'run: let admins make faults here, such as a crash: troupe fault'},
};
/** Those of all verbs: which one takes which is looked at when the verb is known. */
const actorFlags: FlagSpecs = Object.assign({}, verbFlags, ...verbSpecs.map(({flags}) => flags)) as FlagSpecs;

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
		name: 'image',
		summary: 'list images of nodes, pull some, or load them from a file without a registry',
		usage: ['ls [--node NODE] [-o wide|json|yaml]', 'pull IMAGE [--node NODE]', 'load FILE|- [--node NODE]'],
		examples: [
			'troupe image ls',
			'troupe image pull busybox:1.36',
			'docker save app:1 | troupe image load - --node node-a',
			'troupe image load app.tar.gz',
		],
		flags: {
			...clusterFlags,
			node: {
				type: 'string',
				multiple: true,
				value: 'NODE',
				about: 'of this node alone; may be given again (all that have a Docker Engine)',
			},
			output: {type: 'string', short: 'o', value: 'FORM', choices: ['wide', 'json', 'yaml'], about: 'ls: wide, json or yaml'},
		},
		load: () => import('../commands/image.js'),
	},
	{
		name: 'status',
		summary: 'tell how the cluster is, on one screen: server, store, nodes, pods, actors, and what is wrong first',
		usage: ['[-o json]'],
		examples: ['troupe status', 'troupe status -o json', "troupe status || echo 'look at it'"],
		flags: {...clusterFlags, ...documentFlag},
		failureExitCode: 2,
		load: () => import('../commands/status.js'),
	},
	{
		name: 'top',
		summary: 'show how much of processors and memory pods or nodes use, and how much functions are called',
		usage: [
			'pods [NAME] [-A] [-l QUERY] [--containers] [--sort cpu] [-o wide] [-w]',
			'nodes [NAME] [-l QUERY] [--sort memory] [-o wide] [-w]',
			'functions [NAME] [-A] [-o wide] [-w]',
		],
		examples: [
			'troupe top pods',
			'troupe top pods -A --sort cpu',
			'troupe top pods web-1 --containers',
			'troupe top nodes',
			'troupe top pods -o wide -w',
			'troupe top functions -A',
			'troupe top functions -o wide',
		],
		flags: {
			...searchFlags,
			containers: {type: 'boolean', about: 'pods: each container on a line of its own'},
			sort: {type: 'string', value: 'WHAT', choices: ['cpu', 'memory'], about: 'what uses most first: cpu or memory (by name)'},
			output: {type: 'string', short: 'o', value: 'FORM', choices: ['wide', 'json', 'yaml'], about: 'wide: more columns; or json or yaml'},
			watch: {type: 'boolean', short: 'w', about: 'go on and show it every 5 s'},
		},
		ownSignals: true,
		load: () => import('../commands/top.js'),
	},
	{
		name: 'tree',
		summary: 'draw the actors of every system: what is wrong or busy first, what rests folded',
		usage: ['[PLACE] [-w] [--depth N] [--all]'],
		examples: ['troupe tree', 'troupe tree control --depth 2', 'troupe tree pod/web-1', 'troupe tree -w'],
		flags: {
			...namespacedFlags,
			depth: {type: 'number', value: 'N', about: 'how many levels below (all)'},
			watch: {type: 'boolean', short: 'w', about: 'again each second, until Ctrl-C'},
			all: {type: 'boolean', about: 'every actor on a line of its own'},
			...documentFlag,
		},
		ownSignals: true,
		load: () => import('../commands/tree.js'),
	},
	{
		name: 'repl',
		summary: 'a shell to look into running actors: their states, mailboxes, messages',
		usage: ['[PLACE]', "--command 'VERB …' [--command …]", '< FILE'],
		examples: ['troupe repl', "troupe repl --command 'state pod/web-1' --command 'links pod/web-1'", 'troupe repl < look.txt'],
		flags: {
			...namespacedFlags,
			command: {
				type: 'string',
				short: 'c',
				multiple: true,
				value: 'LINE',
				about: 'run this line instead of asking for some; may be given again',
			},
			yes: {type: 'boolean', short: 'y', about: 'do not ask before a change'},
			...documentFlag,
		},
		ownSignals: true,
		load: () => import('../commands/repl.js'),
	},
	{
		name: 'actor',
		summary: 'look at one running actor, or change it, by a verb of the inspector; run actors of your own',
		usage: [
			'VERB [PLACE…]',
			'help [VERB]',
			'run FILE [--name NAME] [--input JSON] [--tell MESSAGE…] [--stdin] [--faults]   (actors of your own)',
		],
		examples: [
			'troupe actor state pod/web-1 .object.status',
			'troupe actor trace pod/web-1 --for 10s',
			'troupe actor top --by time',
			'troupe actor help',
			'troupe actor run examples/actors/pong.mjs',
			`troupe actor run counter.mjs --name visits --tell '{"type": "add", "amount": 2}'`,
		],
		flags: {...clusterFlags, ...actorFlags, ...runFlags},
		helpOf(verb) {
			const spec = findVerb(verb, verbSpecs);
			return spec === undefined || spec.shellOnly === true ? undefined : verbHelp(spec, 'troupe actor ');
		},
		ownSignals: true,
		load: () => import('../commands/actor.js'),
	},
	{
		name: 'fault',
		summary: 'make an actor crash, slow, lose messages or pause, or cut a node off, for a while; needs up --faults, or actor run --faults',
		usage: ['crash|slow|drop|pause PLACE [--for TIME] [--delay TIME] [--share N]', 'partition NODE [--for TIME]', 'list', 'end [PLACE]'],
		examples: [
			'troupe fault crash rs/web',
			'troupe fault slow control/scheduler --delay 2s --for 30s',
			'troupe fault partition node-a --for 1m',
			'troupe fault list',
			'troupe fault end',
		],
		flags: {...clusterFlags, ...verbFlags, ...verbSpecs.find(({name}) => name === 'fault')?.flags},
		ownSignals: true,
		load: () => import('../commands/fault.js'),
	},
];
