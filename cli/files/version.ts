// The version of this program: the one in package.json, above the folder of what is built.

import {readFileSync} from 'node:fs';

export const programVersion: string = (
	JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {readonly version: string}
).version;
