// Commands for pods and what runs in them.

import {limits} from '../../api/limits.js';
import type {CommandSpec, FlagSpecs} from '../command.js';
import {documentFlag, namespacedFlags, selectorFlag} from '../command-line/flags.js';

const containerFlag: FlagSpecs = {container: {type: 'string', short: 'c', value: 'NAME', about: 'which container (the first)'}};

export const podsCommands: readonly CommandSpec[] = [
	{
		name: 'logs',
		summary: 'show what a container wrote',
		usage: ['POD… | KIND/NAME | -l QUERY  [-c CONTAINER | --all-containers] [-f] [--since TIME] [--tail N] [--timestamps] [--previous]'],
		examples: [
			'troupe logs hello-1',
			'troupe logs -f hello-1',
			'troupe logs -f -l app=hello --since 5m',
			'troupe logs rs/hello --all-containers --tail 20',
			'troupe logs -f function/hello',
			'troupe logs -f slurmjob/matrix',
			'troupe logs crash --previous',
		],
		flags: {
			...namespacedFlags,
			...selectorFlag,
			...containerFlag,
			'all-containers': {type: 'boolean', about: 'of every container of each pod'},
			follow: {
				type: 'boolean',
				short: 'f',
				about: 'go on with what is written from now on, also after restarts; waits for a pod that is not there yet',
			},
			tail: {type: 'number', value: 'N', about: 'only the last N lines of each container (all)'},
			since: {type: 'string', value: 'TIME', about: 'only what was written within the last 5m, 90s, 2h'},
			'since-time': {type: 'string', value: 'TIME', about: 'only what was written from then on, such as 2026-01-31T12:00:00Z'},
			timestamps: {type: 'boolean', about: 'each line with the time at which it was written'},
			raw: {type: 'boolean', about: 'control characters as they are: a terminal obeys them (shown as ^[ there otherwise)'},
			previous: {type: 'boolean', short: 'p', about: 'of the run before the last restart'},
			prefix: {type: 'boolean', about: 'each line begins with [pod/container] (where there are several)'},
			'max-log-requests': {type: 'number', value: 'N', about: `how many containers at a time (${limits.logRequests})`},
		},
		load: () => import('../commands/logs.js'),
	},
	{
		name: 'exec',
		summary: 'run a program in a container',
		usage: ['POD [-c CONTAINER] [-i] [-t] -- PROGRAM [WORD…]'],
		examples: ['troupe exec web -- ls -l /', 'troupe exec -it web -- sh', 'tar c . | troupe exec -i web -c main -- tar x -C /srv'],
		flags: {
			...namespacedFlags,
			...containerFlag,
			stdin: {type: 'boolean', short: 'i', about: 'give it the input of this command'},
			tty: {type: 'boolean', short: 't', about: 'give it a terminal'},
		},
		load: () => import('../commands/exec.js'),
	},
	{
		name: 'attach',
		summary: 'see what a container writes from now on, and type to it',
		usage: ['POD [-c CONTAINER] [-i] [-t]'],
		examples: ['troupe attach web', 'troupe attach -it shell'],
		flags: {
			...namespacedFlags,
			...containerFlag,
			stdin: {type: 'boolean', short: 'i', about: 'give it the input of this command; its spec says "stdin: true"'},
			tty: {type: 'boolean', short: 't', about: 'hand every key to its terminal; its spec says "tty: true"'},
		},
		load: () => import('../commands/attach.js'),
	},
	{
		name: 'port-forward',
		summary: 'lead ports of this machine to ports of a pod',
		usage: ['POD [LOCAL:]REMOTE…', 'KIND/NAME [LOCAL:]REMOTE…'],
		examples: ['troupe port-forward web 8080:80', 'troupe port-forward deployment/web :80', 'troupe port-forward service/db 5432'],
		flags: {
			...namespacedFlags,
			address: {type: 'string', value: 'ADDRESS', about: 'where it listens here (127.0.0.1)'},
		},
		load: () => import('../commands/port-forward.js'),
	},
	{
		name: 'net',
		summary: 'walk the way from one place to another, and say at which hop it fails',
		usage: ['check pod/NAME|node/NAME service/NAME[:PORT]|pod/NAME[:PORT]|HOST[/PATH]|ADDRESS:PORT'],
		examples: [
			'troupe net check pod/web service/db:5432',
			'troupe net check pod/web pod/db:5432',
			'troupe net check node/node-a shop.example.com/api',
			'troupe net check pod/web 10.0.0.7:443 -o json',
		],
		flags: {
			...namespacedFlags,
			...documentFlag,
			'to-namespace': {type: 'string', value: 'NAME', about: 'namespace of TO, where it is another one (that of -n)'},
		},
		load: () => import('../commands/net.js'),
	},
	{
		name: 'cp',
		summary: 'copy files from and to a container, or a result of a SlurmJob',
		usage: ['POD:PATH LOCAL [-c CONTAINER]', 'LOCAL POD:PATH [-c CONTAINER]', 'slurmjob/NAME:FILE LOCAL'],
		examples: [
			'troupe cp web:/var/log/app.log .',
			'troupe cp ./site web:/srv/site',
			'troupe cp -c sidecar web:/data ./data',
			'troupe cp slurmjob/matrix:result.txt .',
		],
		flags: {...namespacedFlags, ...containerFlag},
		load: () => import('../commands/cp.js'),
	},
	{
		name: 'retry',
		summary: 'start what waits out a back-off now',
		usage: ['POD… [-c CONTAINER]'],
		examples: ['troupe retry crash', 'troupe retry crash -c main'],
		flags: {
			...namespacedFlags,
			container: {type: 'string', short: 'c', value: 'NAME', about: 'which container (all that wait)'},
		},
		load: () => import('../commands/retry.js'),
	},
];
