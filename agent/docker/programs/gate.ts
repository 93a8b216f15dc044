// `gate`: begins a container in the place of its program, waits until the agent names a file, and becomes that program.
//
// So what only can be done to a running container, from outside, is done before anything of the user's runs: its UTS name is set, and the last look
// at the lease of an exclusive pod is taken, which a start that hangs in the Engine would outlast. The file's path comes through a FIFO that is
// mounted into the container; the program gets neither its descriptor nor anything else of the gate: same process, arguments and environment.
//
//   /.troupe-gate <the program's argv[0]> <its arguments>...
//
// Ends with 125 when there is no FIFO or its other end was closed without a word, 127 when there is no such file, 126 when it cannot be executed:
// as shells and Docker have it. While it waits as process 1 of a container only SIGKILL ends it.
//
// Source: execve(2), fifo(7); what stands on the stack at a program's start, from the System V ABIs.

import {bytesOf, elf, type Architecture} from './elf.js';

/** Where a container has the program. */
export const gatePath = '/.troupe-gate';
/** Where it has the FIFO. */
export const gateFifoPath = '/.troupe-go';
/** Of what is written into the FIFO at once: an absolute path and a null. */
export const gateBytes = 4_096;
/** The gate's own exit code: it was not let through. */
export const gateClosedCode = 125;

const code: Readonly<Record<Architecture, Buffer>> = {
	x86_64: bytesOf(`
		48 89 e3                ; 00 mov rbx, rsp
		bf 9c ff ff ff          ; 03 mov edi, -100        AT_FDCWD
		48 8d 35 59 00 00 00    ; 08 lea rsi, [path]
		ba 00 00 08 00          ; 0f mov edx, 0x80000     O_RDONLY | O_CLOEXEC
		b8 01 01 00 00          ; 14 mov eax, 257         openat: waits for the agent to open the other end
		0f 05                   ; 19 syscall
		85 c0                   ; 1b test eax, eax
		78 3d                   ; 1d js 5c
		89 c7                   ; 1f mov edi, eax
		48 81 ec 00 10 00 00    ; 21 sub rsp, 4096
		48 89 e6                ; 28 mov rsi, rsp
		ba 00 10 00 00          ; 2b mov edx, 4096
		31 c0                   ; 30 xor eax, eax         read
		0f 05                   ; 32 syscall
		85 c0                   ; 34 test eax, eax
		7e 24                   ; 36 jle 5c               the end of the file, or an error
		48 8b 0b                ; 38 mov rcx, [rbx]       how many arguments
		48 89 e7                ; 3b mov rdi, rsp         the file
		48 8d 73 10             ; 3e lea rsi, [rbx+16]    from the second on: the program's
		48 8d 54 cb 10          ; 42 lea rdx, [rbx+rcx*8+16] behind them and a null: the environment
		b8 3b 00 00 00          ; 47 mov eax, 59          execve
		0f 05                   ; 4c syscall
		bf 7e 00 00 00          ; 4e mov edi, 126
		83 f8 fe                ; 53 cmp eax, -2          ENOENT
		75 09                   ; 56 jne 61
		ff c7                   ; 58 inc edi
		eb 05                   ; 5a jmp 61
		bf 7d 00 00 00          ; 5c mov edi, 125
		b8 e7 00 00 00          ; 61 mov eax, 231         exit_group
		0f 05                   ; 66 syscall
		2f 2e 74 72 6f 75 70 65 2d 67 6f 00 ; 68 path: "/.troupe-go"
	`),
	aarch64: bytesOf(`
		f3 03 00 91             ; 00 mov x19, sp
		60 0c 80 92             ; 04 mov x0, #-100        AT_FDCWD
		41 03 00 10             ; 08 adr x1, path
		02 01 a0 d2             ; 0c mov x2, #0x80000     O_RDONLY | O_CLOEXEC
		03 00 80 d2             ; 10 mov x3, #0
		08 07 80 d2             ; 14 mov x8, #56          openat: waits for the agent to open the other end
		01 00 00 d4             ; 18 svc #0
		40 02 f8 b7             ; 1c tbnz x0, #63, 64     an error is below zero
		ff 07 40 d1             ; 20 sub sp, sp, #4096
		e1 03 00 91             ; 24 mov x1, sp
		02 00 82 d2             ; 28 mov x2, #4096
		e8 07 80 d2             ; 2c mov x8, #63          read
		01 00 00 d4             ; 30 svc #0
		1f 00 00 f1             ; 34 cmp x0, #0
		6d 01 00 54             ; 38 b.le 64              the end of the file, or an error
		63 02 40 f9             ; 3c ldr x3, [x19]        how many arguments
		e0 03 00 91             ; 40 mov x0, sp           the file
		61 42 00 91             ; 44 add x1, x19, #16     from the second on: the program's
		22 0c 03 8b             ; 48 add x2, x1, x3, lsl #3 behind them and a null: the environment
		a8 1b 80 d2             ; 4c mov x8, #221         execve
		01 00 00 d4             ; 50 svc #0
		1f 08 00 b1             ; 54 cmn x0, #2           ENOENT
		c0 0f 80 d2             ; 58 mov x0, #126
		00 14 80 9a             ; 5c cinc x0, x0, eq
		02 00 00 14             ; 60 b 68
		a0 0f 80 d2             ; 64 mov x0, #125
		c8 0b 80 d2             ; 68 mov x8, #94          exit_group
		01 00 00 d4             ; 6c svc #0
		2f 2e 74 72 6f 75 70 65 2d 67 6f 00 ; 70 path: "/.troupe-go"
	`),
};

/** The program as a file. */
export const gateProgram = (architecture: Architecture): Buffer => elf(architecture, code[architecture]);
