// Makes a clone ready to run: installs the packages when they are not those of the lock file, builds when a source changed.
// Plain old JavaScript, so that a Node that is too old can still say so. Does nothing, and needs no network, when all is there.
'use strict';

require('./node-version.cjs');

var childProcess = require('child_process');
var crypto = require('crypto');
var fs = require('fs');
var net = require('net');
var path = require('path');

var root = path.dirname(path.dirname(__dirname));
var buildDir = path.join(root, 'build');
var modulesDir = path.join(root, 'node_modules');
var lockFile = path.join(root, 'package-lock.json');
var hiddenLockFile = path.join(modulesDir, '.package-lock.json');
var installStamp = path.join(modulesDir, '.troupe-stamp');
var buildStamp = path.join(buildDir, '.troupe-stamp');
var turnName = '\0troupe-prepare-' + hashOf(fs.realpathSync(root));

var sourceDirs = ['api', 'system', 'actors', 'agent', 'server', 'cli', 'test', 'bench', 'examples'];
var sourceFiles = ['package.json', 'tsconfig.json'];

function say(line) {
	process.stdout.write(line + '\n');
}

function read(file) {
	try {
		return fs.readFileSync(file, 'utf8');
	} catch (error) {
		if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
		throw error;
	}
}

function readJson(file) {
	var text = read(file);
	try {
		return text === undefined ? undefined : JSON.parse(text);
	} catch (_error) {
		return undefined;
	}
}

function hashOf(text) {
	return crypto.createHash('sha256').update(text).digest('hex');
}

// Packages

/** Both lock files in one word: the one in git, and the one npm keeps of what it installed. */
function installMark() {
	var hidden = read(hiddenLockFile);
	return hidden === undefined ? undefined : hashOf(read(lockFile)) + ' ' + hashOf(hidden) + '\n';
}

/** Whether what npm says it installed is what the lock file asks for. Optional packages may be missing: they are of other systems. */
function installedAgrees() {
	var wanted = readJson(lockFile);
	var installed = readJson(hiddenLockFile);
	if (!wanted || !installed || !installed.packages) return false;
	var has = Object.prototype.hasOwnProperty;
	var missing = Object.keys(wanted.packages).filter(function (name) {
		var entry = wanted.packages[name];
		return name !== '' && !entry.optional && !entry.link && !has.call(installed.packages, name);
	});
	var other = Object.keys(installed.packages).filter(function (name) {
		var entry = wanted.packages[name];
		return !entry || entry.version !== installed.packages[name].version || entry.integrity !== installed.packages[name].integrity;
	});
	return missing.length === 0 && other.length === 0;
}

function packagesAreThere() {
	var mark = installMark();
	if (mark === undefined) return false;
	if (read(installStamp) === mark) return true;
	if (!installedAgrees()) return false;
	fs.writeFileSync(installStamp, mark);
	return true;
}

/** npm as it was started, else the one in PATH. The development packages are needed to build, whatever NODE_ENV says. */
function install() {
	var args = ['ci', '--include=dev', '--prefer-offline', '--no-audit', '--no-fund'];
	var npm = process.env.npm_execpath;
	say('installing the packages of package-lock.json (npm ci)');
	if (npm && /\.c?js$/.test(npm)) run('npm ci', process.execPath, [npm].concat(args));
	else run('npm ci', 'npm', args);
	fs.writeFileSync(installStamp, installMark() || '');
}

// Build

function walk(dir, found) {
	var entries;
	try {
		entries = fs.readdirSync(path.join(root, dir), {withFileTypes: true});
	} catch (error) {
		if (error.code === 'ENOENT') return;
		throw error;
	}
	entries.forEach(function (entry) {
		var name = dir + '/' + entry.name;
		if (entry.isDirectory()) walk(name, found);
		else if (/\.(ts|py)$/.test(entry.name)) found.push(name);
	});
}

/** Every source with its size and time of change. A clone that was moved or copied with its times needs no build. */
function sourcesNow() {
	var found = sourceFiles.slice();
	var marks = {};
	sourceDirs.forEach(function (dir) {
		walk(dir, found);
	});
	found.sort().forEach(function (name) {
		var stat = fs.statSync(path.join(root, name));
		marks[name] = stat.size + ' ' + Math.floor(stat.mtimeMs);
	});
	return marks;
}

function buildIsFresh(marks) {
	var stamp = readJson(buildStamp);
	return (
		Boolean(stamp) &&
		JSON.stringify(stamp.sources) === JSON.stringify(marks) &&
		stamp.packages === hashOf(read(lockFile)) &&
		fs.existsSync(path.join(buildDir, 'cli/main.js'))
	);
}

function remove(file) {
	try {
		fs.unlinkSync(file);
	} catch (error) {
		if (error.code !== 'ENOENT') throw error;
	}
}

/** What a removed source left in build/ would still be imported, or run as a test. */
function removeLeftovers(before, marks) {
	Object.keys(before || {}).forEach(function (name) {
		if (marks[name] !== undefined || !/\.(ts|py)$/.test(name)) return;
		var output = path.join(buildDir, name.replace(/\.ts$/, '.js'));
		remove(output);
		remove(output + '.map');
	});
}

/** Programs in other languages stand in build/ as they are. */
function copyPrograms(marks) {
	Object.keys(marks).forEach(function (name) {
		if (!/\.py$/.test(name)) return;
		fs.mkdirSync(path.dirname(path.join(buildDir, name)), {recursive: true});
		fs.copyFileSync(path.join(root, name), path.join(buildDir, name));
	});
}

function build() {
	var marks = sourcesNow();
	if (buildIsFresh(marks)) return;
	say('building (tsc)');
	var before = readJson(buildStamp);
	remove(buildStamp);
	run('tsc', process.execPath, [path.join(modulesDir, 'typescript/bin/tsc'), '-p', path.join(root, 'tsconfig.json')]);
	removeLeftovers(before && before.sources, marks);
	copyPrograms(marks);
	say('compiling the validators');
	run('compile-validators', process.execPath, [path.join(buildDir, 'cli/prepare/compile-validators.js')]);
	fs.writeFileSync(buildStamp, JSON.stringify({sources: marks, packages: hashOf(read(lockFile))}));
}

/** Runs one program to its end; its failure is ours, with its exit code. */
function run(name, program, args) {
	var result = childProcess.spawnSync(program, args, {cwd: root, stdio: 'inherit'});
	if (!result.error && result.status === 0) return;
	var why = result.error ? result.error.message : result.signal ? 'killed by ' + result.signal : 'exit code ' + result.status;
	process.stderr.write('error: ' + name + ' failed: ' + why + '\n');
	process.exit(result.status || 1);
}

// One at a time

/**
 * Calls back once it is our turn. Whoever listens on the name has it; the kernel takes it back from a process that ends in any
 * way, so no turn is ever stale. (A name in Linux' abstract socket namespace: no file is left behind.)
 */
function whenOurTurn(then) {
	var server = net.createServer();
	server.once('error', function (error) {
		if (error.code !== 'EADDRINUSE') throw error;
		say('waiting for another one to finish preparing this folder');
		waitForTurn(then);
	});
	server.on('connection', function (socket) {
		socket.destroy();
	});
	server.listen(turnName, function () {
		then();
		server.close();
	});
}

/** A connection to whoever has the turn ends when it does. */
function waitForTurn(then) {
	var socket = net.connect(turnName);
	socket.on('error', function () {
		// Refused or reset: the turn is over. `close` follows.
	});
	socket.once('close', function () {
		whenOurTurn(then);
	});
}

function prepare() {
	if (!packagesAreThere()) install();
	build();
}

// Without a turn when there is nothing to do: a look changes nothing.
if (!(packagesAreThere() && buildIsFresh(sourcesNow()))) {
	// Others may begin at the same moment, and one of them makes it.
	fs.mkdirSync(buildDir, {recursive: true});
	whenOurTurn(prepare);
}
