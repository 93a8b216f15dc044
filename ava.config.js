// `npm test`: what needs nothing but Node and takes two minutes. BUILD names another output folder of tsc.
import {existsSync} from 'node:fs';

const build = process.env.BUILD ?? 'build';
const all = [`${build}/test/**/*.test.js`, `!${build}/test/real/**`];
/** Lanes of their own. */
const longer = [`!${build}/test/**/long/**`, `!${build}/test/simulation/planted.test.js`];

/** Whoever names files gets those; a whole run takes many together. */
async function files() {
	const gathered = `${import.meta.dirname}/${build}/test/lane/gathered.js`;
	const isWhole = !process.argv.slice(2).some(word => word.includes('.test.js'));
	if (!isWhole || !existsSync(gathered)) return [...all, `!${build}/test/gathered/**`];
	const {gather} = await import(gathered);
	return [...all, ...longer, ...gather(`${build}/test`)];
}

export default async () => ({
	files: await files(),
	nodeArguments: ['--enable-source-maps'],
	// In a worker Node closes descriptors that other threads have opened since; these tests hand descriptors to processes.
	workerThreads: false,
	// Many of them wait for processes and clocks: with as many files as processors half of the machine would idle.
	concurrency: 4,
	timeout: '60s',
});
