// `gate`: begins a container in the place of its program, waits for one byte from the agent, and becomes the program.
//
// So what only can be done to a running container, from outside, is done before anything of the user's runs: its UTS name is set, and the last look
// at the lease of an exclusive pod is taken, which a start that hangs in the Engine would outlast. The byte comes through a FIFO that is mounted
// into the container; the program gets neither its descriptor nor anything else of the gate: same process, arguments and environment.
//
//   /.troupe-gate <file of the program, absolute> <its argv[0]> <its arguments>...
//
// Ends with 125 when there is no FIFO or its other end was closed without a byte, 127 when there is no such program, 126 when it cannot be
// executed: as shells and Docker have it. While it waits as process 1 of a container only SIGKILL ends it.
//
// Source: execve(2), fifo(7); what stands on the stack at a program's start, from the System V ABIs.

import {bytesOf, elf, type Architecture} from './elf.js';

/** Where a container has the program. */
export const gatePath = '/.troupe-gate';
/** Where it has the FIFO. */
export const gateFifoPath = '/.troupe-go';
/** The gate's own exit code: it was not let through. */
export const gateClosedCode = 125;

const code: Readonly<Record<Architecture, Buffer>> = {
	x86_64: bytesOf(`
		bf 9c ff ff ff          ; 00 mov edi, -100        AT_FDCWD
		48 8d 35 59 00 00 00    ; 05 lea rsi, [path]
		ba 00 00 08 00          ; 0c mov edx, 0x80000     O_RDONLY | O_CLOEXEC
		b8 01 01 00 00          ; 11 mov eax, 257         openat: waits for the agent to open the other end
		0f 05                   ; 16 syscall
		85 c0                   ; 18 test eax, eax
		78 3d                   ; 1a js 59
		89 c7                   ; 1c mov edi, eax
		48 8d 74 24 f8          ; 1e lea rsi, [rsp-8]     nothing is there
		ba 01 00 00 00          ; 23 mov edx, 1
		31 c0                   ; 28 xor eax, eax         read
		0f 05                   ; 2a syscall
		83 f8 01                ; 2c cmp eax, 1
		75 28                   ; 2f jne 59               the end of the file, or an error
		48 8b 0c 24             ; 31 mov rcx, [rsp]       how many arguments
		48 8b 7c 24 10          ; 35 mov rdi, [rsp+16]    the first: the file
		48 8d 74 24 18          ; 3a lea rsi, [rsp+24]    from the second on: the program's
		48 8d 54 cc 10          ; 3f lea rdx, [rsp+rcx*8+16] behind them and a null: the environment
		b8 3b 00 00 00          ; 44 mov eax, 59          execve
		0f 05                   ; 49 syscall
		bf 7e 00 00 00          ; 4b mov edi, 126
		83 f8 fe                ; 50 cmp eax, -2          ENOENT
		75 09                   ; 53 jne 5e
		ff c7                   ; 55 inc edi
		eb 05                   ; 57 jmp 5e
		bf 7d 00 00 00          ; 59 mov edi, 125
		b8 e7 00 00 00          ; 5e mov eax, 231         exit_group
		0f 05                   ; 63 syscall
		2f 2e 74 72 6f 75 70 65 2d 67 6f 00 ; 65 path: "/.troupe-go"
	`),
	aarch64: bytesOf(`
		60 0c 80 92             ; 00 mov x0, #-100        AT_FDCWD
		41 03 00 10             ; 04 adr x1, path
		02 01 a0 d2             ; 08 mov x2, #0x80000     O_RDONLY | O_CLOEXEC
		03 00 80 d2             ; 0c mov x3, #0
		08 07 80 d2             ; 10 mov x8, #56          openat: waits for the agent to open the other end
		01 00 00 d4             ; 14 svc #0
		40 02 f8 b7             ; 18 tbnz x0, #63, 60     an error is below zero
		e1 43 00 d1             ; 1c sub x1, sp, #16      nothing is there
		22 00 80 d2             ; 20 mov x2, #1
		e8 07 80 d2             ; 24 mov x8, #63          read
		01 00 00 d4             ; 28 svc #0
		1f 04 00 f1             ; 2c cmp x0, #1
		81 01 00 54             ; 30 b.ne 60              the end of the file, or an error
		e3 03 40 f9             ; 34 ldr x3, [sp]         how many arguments
		e0 0b 40 f9             ; 38 ldr x0, [sp, #16]    the first: the file
		e1 63 00 91             ; 3c add x1, sp, #24      from the second on: the program's
		e2 6f 23 8b             ; 40 add x2, sp, x3, lsl #3
		42 40 00 91             ; 44 add x2, x2, #16      behind them and a null: the environment
		a8 1b 80 d2             ; 48 mov x8, #221         execve
		01 00 00 d4             ; 4c svc #0
		1f 08 00 b1             ; 50 cmn x0, #2           ENOENT
		c0 0f 80 d2             ; 54 mov x0, #126
		00 14 80 9a             ; 58 cinc x0, x0, eq
		02 00 00 14             ; 5c b 64
		a0 0f 80 d2             ; 60 mov x0, #125
		c8 0b 80 d2             ; 64 mov x8, #94          exit_group
		01 00 00 d4             ; 68 svc #0
		2f 2e 74 72 6f 75 70 65 2d 67 6f 00 ; 6c path: "/.troupe-go"
	`),
};

/** The program as a file. */
export const gateProgram = (architecture: Architecture): Buffer => elf(architecture, code[architecture]);
