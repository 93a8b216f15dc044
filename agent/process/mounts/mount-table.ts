// Many mounts at once, as mount(8) reads them from a file. Source: fstab(5).

import path from 'node:path';

/** Binds each of these names, in the folder that the program stands in, to the same name in `folder`. */
export const mountTable = (names: readonly string[], folder: string): string =>
	names.map(name => `./${escaped(name)} ${escaped(path.join(folder, name))} none rbind 0 0\n`).join('');

/** Hides a folder behind an empty one, into which no program can write. At `podHome`, below it, is the folder that mount(8) stands in. */
export function hidingTable(folder: string, podHome: string | undefined, isReadOnly: boolean): string {
	const empty = (options: string): string => `troupe ${escaped(folder)} tmpfs ${options},mode=755,size=64k,nosuid,nodev,noexec 0 0\n`;
	if (podHome === undefined) return empty('ro');
	return [
		empty('rw'),
		`. ${escaped(podHome)} none bind,X-mount.mkdir${isReadOnly ? ',ro' : ''} 0 0\n`,
		`none ${escaped(folder)} none remount,bind,ro,nosuid,nodev,noexec 0 0\n`,
	].join('');
}

const escaped = (name: string): string =>
	name.replace(/[ \t\n\\#]/g, character => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`);
