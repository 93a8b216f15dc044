// /etc/hostname and /etc/hosts of an infra container that was made before its pod was known. Containers that join it have these very files.
//
// They are written in place: what is mounted into a container is the file, not its name.

import {readFileSync, writeFileSync} from 'node:fs';
import type {HostAlias} from '../../../actors/node/runtime/runtime-port.js';

/** What the Engine called it, and where it keeps its files on this host. */
export type HostFiles = {readonly hostname: string; readonly hostnamePath: string; readonly hostsPath: string};

/** Before any container joins. Throws errno exceptions; an Error where the Engine has not written what it says. */
export function renameHost({hostname, hostnamePath, hostsPath}: HostFiles, name: string, aliases: readonly HostAlias[]): void {
	const hosts = readFileSync(hostsPath, 'utf8');
	if (readFileSync(hostnamePath, 'utf8').trim() !== hostname) throw new Error(`"${hostnamePath}" does not say "${hostname}"`);
	writeFileSync(hostsPath, hostsOf(hosts, hostname, name, aliases));
	writeFileSync(hostnamePath, `${name}\n`);
}

/** As the Engine would have written it: aliases stand before the container's own name. */
export function hostsOf(text: string, before: string, name: string, aliases: readonly HostAlias[]): string {
	const lines = text.split('\n').filter(line => line !== '');
	const own = (line: string): boolean => line.split(/\s+/).slice(1).includes(before);
	const extra = aliases.flatMap(({ip, hostnames}) => hostnames.map(hostname => `${ip}\t${hostname}`));
	const named = lines.filter(own).map(line => `${line.split(/\s+/)[0] ?? ''}\t${name}`);
	return [...lines.filter(line => !own(line)), ...extra, ...named, ''].join('\n');
}
