// `npm run test:real`: what drives real components; one file at a time, since they share the machine.
const build = process.env.BUILD ?? 'build';

export default {
	files: [`${build}/test/real/**/*.test.js`],
	nodeArguments: ['--enable-source-maps'],
	// As for npm test: these tests hand descriptors to processes.
	workerThreads: false,
	concurrency: 1,
	timeout: '5m',
};
