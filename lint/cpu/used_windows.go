package cpu

import (
	"syscall"
	"time"
)

// Used is the CPU time of this process, that of the kernel included.
func Used() time.Duration {
	var created, exited, kernel, user syscall.Filetime
	self, err := syscall.GetCurrentProcess()
	if err == nil {
		err = syscall.GetProcessTimes(self, &created, &exited, &kernel, &user)
	}
	if err != nil {
		return 0 // not for the process itself; the backstop is left
	}
	return ticks(kernel) + ticks(user)
}

// ticks are 100 ns each; Filetime.Nanoseconds would take them for a date.
func ticks(f syscall.Filetime) time.Duration {
	return time.Duration(int64(f.HighDateTime)<<32|int64(f.LowDateTime)) * 100
}
