// Whether containers of this host can have mounts: tried once, with a private root and a mount in it as a container has them.

import {mkdirSync, rmSync} from 'node:fs';
import path from 'node:path';
import {mountScript, toolNames, type MountTools} from '../mounts/mount-script.js';
import {planMounts} from '../mounts/mount-plan.js';
import {codeOf, findTool} from '../../os/tools.js';
import {nobody, setprivWords} from '../users/privileges.js';
import {asOwnerWords, mountWords, type Namespaces} from './namespaces.js';

/** No host has it. */
const place = '/troupe-trial-of-mounts/here';

let tried: {readonly tools: MountTools | undefined} | undefined;

/**
 * Undefined where it does not work. A host does not change its mind, so one try does for a process. `folder` is any without links in its path:
 * what is mounted in it is seen by no other process.
 */
export function findMountTools(folder: string, namespaces: Namespaces | undefined): MountTools | undefined {
	tried ??= {tools: trial(toolsOf(), folder, namespaces)};
	return tried.tools;
}

const toolsOf = (): Partial<MountTools> => Object.fromEntries(toolNames.map(name => [name, findTool(name)]));

const isWhole = (tools: Partial<MountTools>): tools is MountTools => toolNames.every(name => tools[name] !== undefined);

function trial(tools: Partial<MountTools>, folder: string, namespaces: Namespaces | undefined): MountTools | undefined {
	if (!isWhole(tools)) return undefined;
	const made = path.join(folder, '.trial');
	try {
		return works(tools, made, namespaces) ? tools : undefined;
	} finally {
		rmSync(made, {recursive: true, force: true});
	}
}

/** `made`: a folder that is made for it. */
function works(tools: MountTools, made: string, namespaces: Namespaces | undefined): boolean {
	const isOwner = namespaces?.owner !== undefined;
	const root = path.join(made, 'root');
	const podHome = path.join(made, 'home');
	for (const each of [root, podHome]) mkdirSync(each, {recursive: true});
	const planned = planMounts({
		root,
		table: path.join(made, 'table'),
		mounts: [{volume: 'trial', path: place, subPath: undefined, readOnly: true}],
		readOnlyRoot: false,
		// What another user has mounted below a folder cannot be left out in a user namespace.
		find: () => ({type: 'files', place: isOwner ? path.dirname(path.dirname(made)) : '/'}),
		hostPaths: {allowed: [], never: []},
		hidden: isOwner ? [made] : [],
		podHome,
	});
	if (!planned.ok || planned.plan === undefined) return false;
	const {text, words} = mountScript(planned.plan, tools, {memory: undefined, stateDescriptor: 1});
	const drop =
		namespaces?.owner === undefined ? setprivWords(tools.setpriv, {user: nobody, groups: [], mayGain: false}) : asOwnerWords(namespaces);
	const last = [...drop, '/bin/sh', '-c', `'cd ${place}'`];
	const before = [...mountWords(tools.unshare, namespaces), '--'];
	return codeOf([...before, '/bin/sh', '-c', `${text}exec ${last.join(' ')}`, 'sh', ...words]) === 0;
}
