// The workflows of both older dialects on processes, in every way in which a run is started.

import {execFile} from 'node:child_process';
import {promisify} from 'node:util';
import test from 'ava';
import {dialectFunctions} from '../../e2e/_dialects.js';
import {deploy} from '../../e2e/_functions.js';
import {openFileHome} from '../../e2e/_rig.js';
import {checkDialects} from '../_dialect-runs.js';

const run = promisify(execFile);
const {cluster} = openFileHome(test, '--network=shared');

test('workflows of both dialects come to the same by manifest, command, curl and MQTT, on processes', async t => {
	for (const [name, code] of Object.entries(dialectFunctions)) await deploy(cluster, name, `export default ${code};\n`);
	await checkDialects(t, {
		home: cluster,
		fine: (...args) => cluster.fine(...args),
		program: async (word, args) => (await run(word, [...args])).stdout,
	});
});
