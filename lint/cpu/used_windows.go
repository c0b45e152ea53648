package cpu

import (
	"syscall"
	"time"
)

// Used returns the user and kernel CPU time of this process.
func Used() time.Duration {
	var created, exited, kernel, user syscall.Filetime
	self, err := syscall.GetCurrentProcess()
	if err == nil {
		err = syscall.GetProcessTimes(self, &created, &exited, &kernel, &user)
	}
	if err != nil {
		return 0 // cannot happen for the current process; the backstop would still apply
	}
	return ticks(kernel) + ticks(user)
}

// ticks converts a Filetime, which counts units of 100 ns, to a Duration. Filetime.Nanoseconds
// would treat it as a date.
func ticks(f syscall.Filetime) time.Duration {
	return time.Duration(int64(f.HighDateTime)<<32|int64(f.LowDateTime)) * 100
}
